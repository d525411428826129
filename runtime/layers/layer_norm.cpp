// Normalisation of each row, where a row is all dimensions from `axis` on; scale and shift have its shape.
//   layer_norm  x, scale, shift -> y = scale (x - mean) / sqrt(variance + epsilon) + shift
//   rms_norm    x, scale        -> y = scale x / sqrt(mean of x^2 + epsilon)
// Attributes: axis, epsilon.

#include <algorithm>

#include "algorithms/normalisation.h"
#include "runtime/kernels/kernels.h"
#include "runtime/layers/unary.h"
#include "runtime/operations.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

// x, whose rows are its dimensions from the attribute `axis` on, as a matrix of them.
struct Rows {
  const char *operation;
  Tensor x;
  Shape row;

  Rows(const char *of, const Tensor &given, const Attributes &a) : operation(of), x(row_major(given)) {
    row = Shape(x.shape().begin() + dimension(a.integer("axis"), x.rank(), operation), x.shape().end());
  }

  View of(const Tensor &t) const {
    const int64_t count = elements(row);
    return {t, {{count, 1}, {count == 0 ? 0 : t.size() / count, count}}};
  }
  View of_parameter(const Tensor &t) const {
    if (t.shape() != row) fail(operation, ": a parameter of ", to_string(t.shape()), " for rows of ", to_string(row));
    return flat(row_major(t));
  }
  View of_gradient(const Tensor &t) const {
    if (t.shape() != x.shape())
      fail(operation, ": a gradient of ", to_string(t.shape()), " for ", to_string(x.shape()));
    return of(row_major(t));
  }
};

float epsilon(const Attributes &a) { return static_cast<float>(a.real("epsilon")); }

// The operations' kernels take x, the parameters, epsilon and y.
Operation::Compute normalise_rows(const char *kernel, size_t parameters) {
  return [kernel, parameters](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
    const Rows rows(kernel, in.at(0), a);
    const Tensor y = Tensor::like(rows.x);
    std::vector<KernelArgument> arguments = {rows.of(rows.x)};
    for (size_t i = 1; i <= parameters; ++i) arguments.emplace_back(rows.of_parameter(in.at(i)));
    arguments.emplace_back(epsilon(a));
    arguments.emplace_back(rows.of(y));
    call(kernel, std::move(arguments));
    return {y};
  };
}

std::vector<int64_t> axes_of_rows(const Taped &t) {
  const Variable &x = t.input(0);
  const std::vector<int64_t> all = all_dimensions(x);
  return {all.begin() + dimension(t.attributes().integer("axis"), x.rank(), "axis"), all.end()};
}

// With h = x r and g = dy scale: dscale = sum of dy h over rows, dx = r (g - h mean of g h).
std::vector<Variable> rms_norm_gradients(const Taped &t, const Variable &dy) {
  const std::vector<int64_t> axes = axes_of_rows(t);
  const Variable &x = t.input(0);
  const Variable root = reciprocal(sqrt(mean(square(x), axes) + t.attributes().real("epsilon")));
  const Variable h = x * root;
  std::vector<Variable> d(2);
  if (t.needs(0)) {
    const Variable g = dy * t.input(1);
    d[0] = root * (g - h * mean(g * h, axes));
  }
  if (t.needs(1)) d[1] = sum_to(dy * h, t.shape(1));
  return d;
}

}  // namespace

namespace operations {

// (x, scale, dy) -> dx, dscale, dshift
const Operation layer_norm_gradient(
    "layer_norm_gradient",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      const Rows rows("layer_norm_gradient", in.at(0), a);
      const int64_t count = rows.x.size() / std::max<int64_t>(elements(rows.row), 1);
      const Tensor moments = Tensor::empty({count, 2}), dx = Tensor::like(rows.x), dscale = Tensor::empty(rows.row),
                   dshift = Tensor::empty(rows.row);
      const View dy = rows.of_gradient(in.at(2));
      call("layer_norm_moments", {rows.of(rows.x), epsilon(a), reversed(moments)});
      call("layer_norm_gradient_x", {rows.of(rows.x), reversed(moments), rows.of_parameter(in.at(1)), dy, rows.of(dx)});
      call("layer_norm_gradient_parameters", {rows.of(rows.x), reversed(moments), dy, flat(dscale), flat(dshift)});
      return {dx, dscale, dshift};
    },
    [](const Values &in, const Attributes &a) -> Values {
      const Value &x = in.at(0), &dy = in.at(2);
      const int first = dimension(a.integer("axis"), x.rank(), a.owner());
      const algorithms::Moments of =
          algorithms::moments(x, algorithms::axes_from(first, x), formula::constant_value(x.type(), a.real("epsilon")));
      const auto d = algorithms::layer_norm_gradient_parameters(x, of, dy, first);
      return {algorithms::layer_norm_gradient_x(x, of, in.at(1), dy, first), d.scale, d.shift};
    });

const Operation layer_norm("layer_norm", normalise_rows("layer_norm", 2),
                           [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
                             return apply(layer_norm_gradient, {t.input(0), t.input(1), dy[0]}, t.attributes());
                           });

const Operation rms_norm("rms_norm", normalise_rows("rms_norm", 1),
                         [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
                           return rms_norm_gradients(t, dy[0]);
                         });

}  // namespace operations

}  // namespace saltern
