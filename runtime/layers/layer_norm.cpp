// Normalisation of each row, where a row is all dimensions from `axis` on; scale and shift have its shape.
//   layer_norm  x, scale, shift -> y = scale (x - mean) / sqrt(variance + epsilon) + shift
//   rms_norm    x, scale        -> y = scale x / sqrt(mean of x^2 + epsilon)
// Attributes: axis, epsilon.

#include "runtime/kernels/kernels.h"
#include "runtime/layers/unary.h"
#include "runtime/operations.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

// The operations' kernels take x, the parameters, epsilon and y.
Operation::Compute normalise_rows(const std::string &kernel, size_t parameters) {
  return [kernel, parameters](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
    const Tensor x = row_major(in.at(0)), y = Tensor::like(x);
    const int axis = dimension(a.integer("axis"), x.rank(), kernel);
    const Shape row(x.shape().begin() + axis, x.shape().end());
    const int64_t count = elements(row);
    const auto rows = [&](const Tensor &t) -> View {
      return {t, {{count, 1}, {count == 0 ? 0 : t.size() / count, count}}};
    };
    std::vector<KernelArgument> arguments = {rows(x)};
    for (size_t i = 1; i <= parameters; ++i) {
      if (in.at(i).shape() != row)
        fail(kernel, ": a parameter of ", to_string(in[i].shape()), " for rows of ", to_string(row));
      arguments.emplace_back(flat(row_major(in[i])));
    }
    arguments.emplace_back(static_cast<float>(a.real("epsilon")));
    arguments.emplace_back(rows(y));
    call(kernel, std::move(arguments));
    return {y};
  };
}

std::vector<int64_t> axes_of_rows(const Taped &t) {
  const Variable &x = t.input(0);
  const std::vector<int64_t> all = all_dimensions(x);
  return {all.begin() + dimension(t.attributes().integer("axis"), x.value().rank(), "axis"), all.end()};
}

// With h the normalised x and r the reciprocal of the deviation: dscale = sum of dy h over rows, and, where g = dy
// scale, dx = r (g - mean of g - h mean of g h); the mean of g is there only where h is of x less its mean.
std::vector<Variable> row_norm_gradients(const Taped &t, const Variable &centred, const Variable &dy, bool less_mean) {
  const std::vector<int64_t> axes = axes_of_rows(t);
  const Variable root = reciprocal(sqrt(mean(square(centred), axes) + t.attributes().real("epsilon")));
  const Variable h = centred * root;
  std::vector<Variable> d(2);
  if (t.needs(0)) {
    const Variable g = dy * t.input(1), inner = g - h * mean(g * h, axes);
    d[0] = root * (less_mean ? inner - mean(g, axes) : inner);
  }
  if (t.needs(1)) d[1] = sum_to(dy * h, t.shape(1));
  return d;
}

}  // namespace

namespace operations {

const Operation layer_norm("layer_norm", normalise_rows("layer_norm", 2),
                           [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
                             const Variable &x = t.input(0);
                             std::vector<Variable> d = row_norm_gradients(t, x - mean(x, axes_of_rows(t)), dy[0], true);
                             d.push_back(t.needs(2) ? sum_to(dy[0], t.shape(2)) : Variable());
                             return d;
                           });

const Operation rms_norm("rms_norm", normalise_rows("rms_norm", 1),
                         [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
                           return row_norm_gradients(t, t.input(0), dy[0], false);
                         });

}  // namespace operations

}  // namespace saltern
