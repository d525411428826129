#pragma once
// A layer whose kernels were declared from a formula (generators/formula.h), or by hand with the same arguments:
// NAME(inputs) -> y and NAME_gradient(inputs, dy) -> d_inputs.
//
//   const Formula scaled_tanh("scaled_tanh");     Variable y = scaled_tanh(x, scale);
//
// Kernels see every tensor with its dimensions in reverse. y has the shape of the first input unless a rule says
// otherwise.

#include <string>
#include <vector>

#include "runtime/autograd/variable.h"

namespace saltern {

// Calls such a kernel: all inputs, then all outputs.
void call_formula(const std::string &kernel, const std::vector<Tensor> &inputs, const std::vector<Tensor> &outputs);

class Formula {
 public:
  using ShapeRule = std::function<Shape(const std::vector<Shape> &inputs)>;

  explicit Formula(
      const std::string &name, ShapeRule shape = [](const std::vector<Shape> &in) { return in.at(0); });

  template <typename... Inputs>
  Variable operator()(const Inputs &...inputs) const {
    return apply_one(forward_, {inputs...});
  }

 private:
  Operation gradient_, forward_;
};

}  // namespace saltern
