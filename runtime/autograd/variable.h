#pragma once
// A Variable is a tensor that remembers how it was computed. Nets are plain C++ on Variables; what was applied is
// recorded while it runs, so loops and branches may depend on data.
//
//   Variable w(Tensor::full({3}, 2.0), /*requires_gradient=*/true);
//   Variable y = sum(w * w);
//   backward(y);                       // runtime/autograd/backward.h
//   w.gradient().value();              // 4, 4, 4
//
// A Variable is a handle: copies share value, gradient and history.
//
// Tracing: under a Recording guard every application is recorded. From an output, step() gives what computed it
// (operation, attributes, inputs) and index() which of the step's outputs it is; a Variable without a step is a leaf,
// told apart by identity().

#include <memory>
#include <ostream>
#include <vector>

#include "runtime/autograd/operation.h"

namespace saltern {

class Step;
struct Index;
struct Postponed;
struct SparseRows;

class Variable {
 public:
  Variable() = default;
  Variable(Tensor value, bool requires_gradient = false);  // implicit: a tensor is a constant Variable

  bool defined() const { return node_ != nullptr; }
  const Tensor &value() const;
  // What is known without computing it (runtime/autograd/batching.h).
  const Shape &shape() const { return outline().shape(); }
  Type type() const { return outline().type(); }
  int rank() const { return outline().rank(); }
  int64_t size() const { return outline().size(); }
  int64_t extent(int d) const { return outline().extent(d); }
  bool requires_gradient() const;
  // From here on. Leaves only: it is for what is computed from this later.
  void set_requires_gradient(bool on) const;

  // Another value from here on, of the same shape, for all handles. Leaves only; what was recorded before has the old one.
  void set_value(const Tensor &value) const;

  // What backward() left here; undefined where it has not been. Leaves only.
  const Variable &gradient() const;
  void set_gradient(const Variable &gradient) const;
  // The rows that a sparse gradient is made of (runtime/autograd/sparse.h); null for all else.
  const SparseRows *sparse() const;

  // x[{0, slice(2, 5), all}], x[0], x[mask] (runtime/layers/indexing.h).
  Variable operator[](std::initializer_list<Index> index) const;
  Variable operator[](const Index &index) const;

  // The same value without history.
  Variable detached() const { return Variable(value()); }

  // The application that computed this; null for leaves and for what was not recorded.
  const std::shared_ptr<Step> &step() const;
  bool is_leaf() const;
  // Steps were taken from the batch that it is a part of (runtime/autograd/batching.h), and not from it.
  bool was_read_elsewhere() const;
  // Which output of step() this is.
  int index() const;
  // Whether this handle is the only way to its value, which may then be written over.
  bool is_unique() const;
  // Equal for handles of one leaf.
  const void *identity() const { return node_.get(); }

 private:
  friend class Step;
  friend class Agenda;
  friend Variable of_sparse(const Shape &, SparseRows);
  friend std::vector<Variable> apply(const Operation &, const std::vector<Variable> &, Attributes);

  struct Node;
  static Variable output(const Tensor &value, bool requires_gradient, const std::shared_ptr<Step> &step, int index);
  // The value, or an outline where that is postponed.
  const Tensor &outline() const;
  // Computes what is postponed, or all rows of a sparse gradient.
  void settle() const;

  std::shared_ptr<Node> node_;
};

struct Variable::Node {
  Tensor value;
  bool requires_gradient = false;
  Variable gradient;
  std::shared_ptr<Step> step;
  int index = 0;
  std::shared_ptr<Postponed> postponed;  // null: it has been computed
  bool was_read_elsewhere = false;
  std::shared_ptr<const SparseRows> sparse;
};

inline bool Variable::requires_gradient() const { return defined() && node_->requires_gradient; }
inline const std::shared_ptr<Step> &Variable::step() const {
  if (node_->postponed) settle();
  return node_->step;
}
inline bool Variable::is_leaf() const { return !node_->postponed && !node_->step; }
inline const SparseRows *Variable::sparse() const { return node_->sparse.get(); }
inline bool Variable::was_read_elsewhere() const { return node_->was_read_elsewhere; }
inline int Variable::index() const {
  if (node_->postponed) settle();
  return node_->index;
}
inline bool Variable::is_unique() const { return node_.use_count() == 1 && value().is_unique(); }

// One recorded application.
class Step : public std::enable_shared_from_this<Step> {
 public:
  Step(const Operation &operation, Attributes attributes, std::vector<Variable> inputs, std::vector<Tensor> outputs);
  ~Step();
  Step(const Step &) = delete;
  Step &operator=(const Step &) = delete;

  const Operation &operation() const { return *operation_; }
  const Attributes &attributes() const { return attributes_; }
  const std::vector<Variable> &inputs() const { return inputs_; }
  const std::vector<Tensor> &outputs() const { return outputs_; }
  size_t output_count() const { return output_count_; }
  // Output i as a Variable, with this step as its history.
  Variable output(int i) const;
  // Later steps have higher numbers: inputs were always computed before.
  uint64_t number() const { return number_; }

  // Throw an Error that names the operation where it was written since this step was taken.
  void expect_unchanged_input(size_t i) const;
  void expect_unchanged_output(size_t i) const;

  // Lets go of inputs and outputs; what backward() does behind itself.
  void release();
  bool released() const { return released_; }

 private:
  // Contents that gradient rules count on, as they were (runtime/tensor/storage.h).
  struct Kept {
    std::shared_ptr<Storage> memory;
    uint64_t version;
  };
  static Kept kept(const Tensor &t) { return {t.memory(), t.memory()->keep()}; }
  void expect_unchanged(const Tensor &t, const Kept &kept, const char *what, size_t i) const;
  void let_go();

  const Operation *operation_;
  Attributes attributes_;
  std::vector<Variable> inputs_;
  std::vector<Tensor> outputs_;  // tensors, not Variables, which would own this step and so never die
  std::vector<Kept> kept_inputs_, kept_outputs_;
  size_t output_count_;
  uint64_t number_;
  bool released_ = false;
};

// How many steps were recorded so far: the number of the next one.
uint64_t steps_taken();

// All steps that results were computed by, oldest first; `follows` says through which variables, if not all.
std::vector<std::shared_ptr<Step>> steps_behind(const std::vector<Variable> &results,
                                                const std::function<bool(const Variable &)> &follows = nullptr);

// What a gradient rule sees of the application that it differentiates. Asking for an input or output throws where it
// was written in place since: a rule that needs its shape only asks for that.
class Taped {
 public:
  Taped(const Step &step, std::vector<bool> needed) : step_(step), needed_(std::move(needed)) {}
  size_t input_count() const { return step_.inputs().size(); }
  const Variable &input(size_t i) const {
    step_.expect_unchanged_input(i);
    return step_.inputs()[i];
  }
  Variable output(int i) const {
    step_.expect_unchanged_output(static_cast<size_t>(i));
    return step_.output(i);
  }
  const Shape &shape(size_t i) const { return step_.inputs().at(i).shape(); }  // of input i
  Type type(size_t i) const { return step_.inputs().at(i).type(); }
  const Attributes &attributes() const { return step_.attributes(); }
  // Whether anybody wants the gradient of input i; a rule may leave the others undefined.
  bool needs(size_t i) const { return i < needed_.size() && needed_[i]; }

 private:
  const Step &step_;
  std::vector<bool> needed_;
};

// Computes, and records where an input requires a gradient.
std::vector<Variable> apply(const Operation &operation, const std::vector<Variable> &inputs,
                            Attributes attributes = {});
// Likewise, for the first output.
Variable apply_one(const Operation &operation, const std::vector<Variable> &inputs, Attributes attributes = {});

// Its elements as text (runtime/tensor/print.h).
std::ostream &operator<<(std::ostream &out, const Variable &v);

enum class RecordingMode { off, where_needed, everything };
RecordingMode recording_mode();

// While it lives, this thread records in another way.
struct RecordingGuard : Temporarily<RecordingMode> {
  explicit RecordingGuard(RecordingMode mode);
};

// Nothing is recorded: inference, updates of parameters.
struct NoGradient : RecordingGuard {
  NoGradient() : RecordingGuard(RecordingMode::off) {}
};

// Everything is recorded, so that a net can be traced into a graph.
struct Recording : RecordingGuard {
  Recording() : RecordingGuard(RecordingMode::everything) {}
};

}  // namespace saltern
