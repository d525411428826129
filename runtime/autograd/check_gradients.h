#pragma once
// Whether the gradients of an operation that is a formula are right, in one line of a test:
//
//   const Operation scaled_tanh("scaled_tanh", [](Value x, Value scale) { return scale * tanh(x); });
//   check_gradients(scaled_tanh, {{2, 3}, {3}});
//
// Gradients of first and second order are compared with central differences in f64, in every element of every input.
// Inputs are drawn between `low` and `high`; where the formula has kinks, a draw that comes near to one fails.

#include "runtime/autograd/operation.h"

namespace saltern {

struct GradientCheckOptions {
  Attributes attributes = {};
  double low = -1, high = 1;
  int orders = 2;
  uint64_t seed = 1;
};

// Throws an Error that names operation, order, input and element, and says both numbers.
void check_gradients(const Operation &operation, const std::vector<Shape> &inputs,
                     const GradientCheckOptions &check = {});

}  // namespace saltern
