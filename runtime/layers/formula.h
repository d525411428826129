#pragma once
// A layer whose kernels were declared from a formula (generators/formula.h), or by hand with the same arguments:
// NAME(inputs) -> y and NAME_gradient(inputs, dy) -> d_inputs.
//
//   inline const Formula scaled_tanh("scaled_tanh");     Variable y = scaled_tanh(x, scale);
//
// Kernels see every tensor with its dimensions in reverse. y has the shape of the first input unless a rule says
// otherwise.

#include <string>
#include <vector>

#include "runtime/autograd/variable.h"
#include "runtime/kernels/kernels.h"
#include "runtime/layers/movement.h"

namespace saltern {

// Calls such a kernel: all inputs, then all outputs.
inline void call_formula(const std::string &kernel, const std::vector<Tensor> &inputs,
                         const std::vector<Tensor> &outputs) {
  std::vector<KernelArgument> arguments;
  for (const Tensor &t : inputs) arguments.emplace_back(reversed(row_major(t)));
  for (const Tensor &t : outputs) arguments.emplace_back(reversed(t));
  call(kernel, std::move(arguments));
}

class Formula {
 public:
  using ShapeRule = std::function<Shape(const std::vector<Shape> &inputs)>;

  explicit Formula(
      const std::string &name, ShapeRule shape = [](const std::vector<Shape> &in) { return in.at(0); })
      : gradient_(name + "_gradient",
                  [name](const std::vector<Tensor> &in, const Attributes &) {
                    std::vector<Tensor> d;
                    for (size_t i = 0; i + 1 < in.size(); ++i) d.push_back(Tensor::empty(in[i].shape()));
                    call_formula(name + "_gradient", in, d);
                    return d;
                  }),
        forward_(
            name,
            [name, shape](const std::vector<Tensor> &in, const Attributes &) -> std::vector<Tensor> {
              std::vector<Shape> shapes;
              for (const Tensor &t : in) shapes.push_back(t.shape());
              const Tensor y = Tensor::empty(shape(shapes));
              call_formula(name, in, {y});
              return {y};
            },
            [this](const Taped &t, const std::vector<Variable> &dy) {
              std::vector<Variable> in;
              for (size_t i = 0; i < t.input_count(); ++i) in.push_back(t.input(i));
              in.push_back(dy[0]);
              return saltern::apply(gradient_, in);  // not std::apply
            }) {}

  template <typename... Inputs>
  Variable operator()(const Inputs &...inputs) const {
    return apply_one(forward_, {inputs...});
  }

 private:
  Operation gradient_, forward_;
};

}  // namespace saltern
