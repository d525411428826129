#pragma once
// A layer from its formula alone.
//
//   const Formula scaled_tanh("scaled_tanh", {{"x", 2}, {"scale", 1}},
//       [](const std::vector<Tensor> &in) { ... return y; }, {{{7, 3}, {7}}});
//
// declares the kernels NAME(inputs) -> y and NAME_gradient(inputs, dy) -> d_INPUT of every input. The gradient is
// Halide's automatic one, and neither has a schedule of its own, so that Halide's autoscheduler gives them one: a layer
// that turns out to matter gets an explicit gradient and a schedule later, with nothing else to change.

#include <string>
#include <utility>
#include <vector>

#include "dsl/gradient.h"
#include "generators/kernel.h"
#include "schedules/machine.h"

namespace saltern::generators {

struct FormulaInput {
  std::string name;
  int rank;
};

class Formula {
 public:
  using Compute = std::function<dsl::Tensor(const std::vector<dsl::Tensor> &)>;

  // `checks` are calls of the forward kernel; those of the gradient follow from them.
  Formula(const std::string &name, const std::vector<FormulaInput> &inputs, const Compute &formula,
          const std::vector<Call> &checks)
      : forward_(
            name, [=](Build &k) { k.output("y", formula(declared(k, inputs))); }, checks, {}, /*is_formula=*/true),
        gradient_(
            name + "_gradient",
            [=](Build &k) {
              const std::vector<dsl::Tensor> in = declared(k, inputs);
              const dsl::Tensor y = formula(in), dy = k.input("dy", y.rank());
              const std::vector<dsl::Tensor> d = dsl::gradient(y, dy, in);
              for (size_t i = 0; i < inputs.size(); ++i) k.output("d_" + inputs[i].name, d[i]);
            },
            gradient_checks(forward_)) {}

 private:
  static std::vector<dsl::Tensor> declared(Build &k, const std::vector<FormulaInput> &inputs) {
    std::vector<dsl::Tensor> tensors;
    for (const FormulaInput &in : inputs) tensors.push_back(k.input(in.name, in.rank));
    return tensors;
  }

  static std::vector<Call> gradient_checks(const Kernel &forward) {
    std::vector<Call> calls;
    for (Call call : forward.checks) {
      const Build b = forward.build(host_target(), Build::Schedule::plain, call);
      call.emplace_back(b.output_extents().at(0));
      calls.push_back(std::move(call));
    }
    return calls;
  }

  Kernel forward_, gradient_;
};

}  // namespace saltern::generators
