#pragma once
// What a layer leaves behind for the next run: running statistics, the position in a stream of random numbers. It is a
// tensor, and its next value the result of an operation:
//
//   keep(mean, running_mean(latest(mean), y));
//
// While a net is traced, nothing is written, and what the state would be is known instead (NotedState).

#include <utility>
#include <vector>

#include "runtime/autograd/variable.h"

namespace saltern {

// Its value, or what it would be.
Variable latest(const Tensor &state);
// Writes the next value into the state's memory.
void keep(const Tensor &state, const Variable &next);

// While it lives, this thread writes no state.
class NotedState {
 public:
  NotedState();
  ~NotedState();
  NotedState(const NotedState &) = delete;
  NotedState &operator=(const NotedState &) = delete;

  static bool is_on();
  // Each state once, with what it would be in the end.
  const std::vector<std::pair<Tensor, Variable>> &all() const { return noted_; }

 private:
  friend Variable latest(const Tensor &);
  friend void keep(const Tensor &, const Variable &);

  Variable *find(const Tensor &state);

  std::vector<std::pair<Tensor, Variable>> noted_;
  NotedState *outer_;
};

}  // namespace saltern
