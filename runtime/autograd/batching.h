#pragma once
// Many small nets of equal parts, such as one for each tree of a batch, computed together. While it lives, operations that
// this thread applies are postponed; whoever asks for a value, or takes gradients, has all of them computed, those that are
// equal but for their operands by one call:
//
//   Batching together;
//   for (const Tree &tree : trees) losses.push_back(loss_of(tree));       // as if for one
//   backward(mean(concat(losses, 0)));                                    // runs a level of all trees at a time
//
// What is known of a Variable before it is computed: shape(), type(), rank(), size(), extent(). Errors of shapes come where
// an operation is applied. The same numbers as one by one, but for the rounding of products and of gradients' sums.
//
// How: what waits is counted by signature (operation, attributes, shapes, parameters that it shares). Of signatures that
// have all their operands, that which is nearest to the leaves on average is next, as in DyNet (Neubig, Goldberg and Dyer,
// On-the-fly Operation Batching in Dynamic Computation Graphs, 2017). Operands are joined along a new first dimension by
// one step of the tape, batch.rows, none where they already are one result in its order; gradients are batched by that
// alone.

#include <memory>
#include <optional>

#include "runtime/autograd/variable.h"

namespace saltern {

class Agenda;

class Batching {
 public:
  Batching();
  // Computes what somebody still has a handle of.
  ~Batching() noexcept(false);
  Batching(const Batching &) = delete;
  Batching &operator=(const Batching &) = delete;

  void compute();
  // Postpones no more, and leaves what waits without a value.
  void drop();

 private:
  std::unique_ptr<Agenda> agenda_;  // null inside of another
  int exceptions_;
};

// While it lives, nothing more is postponed on this thread.
struct AtOnce : Temporarily<Agenda *> {
  AtOnce();
};

// The results, if they are postponed: what apply() asks first.
std::optional<std::vector<Variable>> postponed(const Operation &operation, const std::vector<Variable> &inputs,
                                               const Attributes &attributes);
// Gives it its value.
void compute_postponed(const Variable &v);
// Outlines of an operation's results.
std::vector<Tensor> outlines_of(const Operation &operation, const std::vector<Variable> &inputs, const Attributes &a);

}  // namespace saltern
