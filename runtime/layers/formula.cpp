#include "runtime/layers/formula.h"

#include "runtime/kernels/kernels.h"
#include "runtime/tensor/strided.h"

namespace saltern {

void call_formula(const std::string &kernel, const std::vector<Tensor> &inputs, const std::vector<Tensor> &outputs) {
  std::vector<KernelArgument> arguments;
  for (const Tensor &t : inputs) arguments.emplace_back(reversed(row_major(t)));
  for (const Tensor &t : outputs) arguments.emplace_back(reversed(t));
  call(kernel, std::move(arguments));
}

Formula::Formula(const std::string &name, ShapeRule shape)
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

}  // namespace saltern
