#include "runtime/layers/softmax.h"

#include "algorithms/probabilities.h"
#include "runtime/kernels/kernels.h"
#include "runtime/layers/movement.h"
#include "runtime/operations.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

// Dimension d as (d, all others).
View rows(const Tensor &t, int d) {
  const int64_t n = t.extent(d);
  return {t, {{n, 1}, {n == 0 ? 0 : t.size() / n, n}}};
}

// Operations on rows along the attribute `axis`: all inputs and y have one shape.
Operation::Compute along_axis(const std::string &kernel) {
  return [kernel](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
    const int axis = dimension(a.integer("axis"), in.at(0).rank(), kernel);
    const Tensor x = innermost(in[0], axis), y = Tensor::like(x);
    std::vector<KernelArgument> arguments = {rows(x, axis)};
    for (size_t i = 1; i < in.size(); ++i) {
      if (in[i].shape() != x.shape()) fail(kernel, ": ", to_string(in[i].shape()), " beside ", to_string(x.shape()));
      arguments.emplace_back(rows(arranged_like(in[i], x), axis));
    }
    arguments.emplace_back(rows(y, axis));
    call(kernel, std::move(arguments));
    return {y};
  };
}

Operation::Algorithm of_x(Value (*y)(const Value &x, int axis)) {
  return [y](const Values &in, const Attributes &a) -> Values {
    return {y(in.at(0), dimension(a.integer("axis"), in[0].rank(), a.owner()))};
  };
}

// (y, dy) -> dx
Operation::Algorithm gradient_from_y(Value (*dx)(const Value &y, const Value &dy, int axis)) {
  return [dx](const Values &in, const Attributes &a) -> Values {
    return {dx(in.at(0), in.at(1), dimension(a.integer("axis"), in[0].rank(), a.owner()))};
  };
}

}  // namespace

namespace operations {

const Operation softmax_gradient("softmax_gradient", along_axis("softmax_gradient"),
                                 gradient_from_y(algorithms::softmax_gradient));

const Operation softmax("softmax", along_axis("softmax"), of_x(algorithms::softmax),
                        [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
                          return {apply_one(softmax_gradient, {t.output(0), dy[0]}, t.attributes())};
                        });

const Operation log_softmax_gradient("log_softmax_gradient", along_axis("log_softmax_gradient"),
                                     gradient_from_y(algorithms::log_softmax_gradient));

const Operation log_softmax("log_softmax", along_axis("log_softmax"), of_x(algorithms::log_softmax),
                            [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
                              return {apply_one(log_softmax_gradient, {t.output(0), dy[0]}, t.attributes())};
                            });

}  // namespace operations

Variable softmax(const Variable &x, int64_t axis) { return apply_one(operations::softmax, {x}, {{"axis", axis}}); }

Variable log_softmax(const Variable &x, int64_t axis) {
  return apply_one(operations::log_softmax, {x}, {{"axis", axis}});
}

}  // namespace saltern
