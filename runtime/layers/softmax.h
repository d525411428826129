#pragma once
// softmax: y(c) = exp(x(c)) / sum over c of exp(x(c)); log_softmax: its logarithm. Attribute: axis.

#include "runtime/layers/module.h"

namespace saltern {

Variable softmax(const Variable &x, int64_t axis = -1);
Variable log_softmax(const Variable &x, int64_t axis = -1);

class Softmax : public Module {
 public:
  explicit Softmax(int64_t axis = -1) : axis_(axis) {}
  Variable forward(const Variable &x) override { return softmax(x, axis_); }

 private:
  int64_t axis_;
};

}  // namespace saltern
