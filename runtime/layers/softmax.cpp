#include "runtime/layers/softmax.h"

#include "runtime/kernels/kernels.h"
#include "runtime/layers/unary.h"
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

}  // namespace

namespace operations {

// dx = y (dy - sum of y dy)
const Operation softmax_gradient("softmax_gradient", along_axis("softmax_gradient"),
                                 [](const Taped &t, const std::vector<Variable> &dd) -> std::vector<Variable> {
                                   const Variable y = t.input(0), dy = t.input(1), g = dd[0];
                                   const std::vector<int64_t> axis = {t.attributes().integer("axis")};
                                   std::vector<Variable> d(2);
                                   if (t.needs(0))
                                     d[0] = g * (dy - saltern::sum(dy * y, axis)) - dy * saltern::sum(g * y, axis);
                                   if (t.needs(1)) d[1] = apply_one(softmax_gradient, {y, g}, t.attributes());
                                   return d;
                                 });

const Operation softmax("softmax", along_axis("softmax"),
                        [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
                          return {apply_one(softmax_gradient, {t.output(0), dy[0]}, t.attributes())};
                        });

// dx = dy - exp(y) sum of dy
const Operation log_softmax_gradient("log_softmax_gradient", along_axis("log_softmax_gradient"),
                                     [](const Taped &t, const std::vector<Variable> &dd) -> std::vector<Variable> {
                                       const Variable y = t.input(0), dy = t.input(1), g = dd[0];
                                       const std::vector<int64_t> axis = {t.attributes().integer("axis")};
                                       std::vector<Variable> d(2);
                                       if (t.needs(0)) d[0] = -(g * exp(y) * saltern::sum(dy, axis));
                                       if (t.needs(1)) d[1] = g - saltern::sum(g * exp(y), axis);
                                       return d;
                                     });

const Operation log_softmax("log_softmax", along_axis("log_softmax"),
                            [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
                              return {apply_one(log_softmax_gradient, {t.output(0), dy[0]}, t.attributes())};
                            });

}  // namespace operations

Variable softmax(const Variable &x, int64_t axis) { return apply_one(operations::softmax, {x}, {{"axis", axis}}); }

Variable log_softmax(const Variable &x, int64_t axis) {
  return apply_one(operations::log_softmax, {x}, {{"axis", axis}});
}

}  // namespace saltern
