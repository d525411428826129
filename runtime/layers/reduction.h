#pragma once
// Sums and means over dimensions, and their mirror image, repetition.
//   sum     attributes: axes, scale. y = scale * (sum of x over the axes); these keep an extent of 1.
//   expand  attributes: shape. x repeated, by broadcasting, until it has the shape.

#include "runtime/kernels/kernels.h"
#include "runtime/layers/movement.h"

namespace saltern {

// Over all dimensions: a scalar, of shape [].
inline Variable sum(const Variable &x);
inline Variable mean(const Variable &x);
// Over some, which keep an extent of 1.
inline Variable sum(const Variable &x, const std::vector<int64_t> &axes, double scale = 1);
inline Variable mean(const Variable &x, const std::vector<int64_t> &axes);

inline Variable expand(const Variable &x, const Shape &shape);
// The sum over what expand() repeats: from a shape back to one that broadcasts to it.
inline Variable sum_to(const Variable &x, const Shape &shape);

// scale * (sum over the dimensions marked), which keep an extent of 1, in the memory order of x. One kernel call where
// the marked dimensions are neighbours in memory, as a channel vector's gradient is in an image: x(a, r, b) -> y(a, b).
Tensor sum_over(const Tensor &x, const std::vector<bool> &marked, double scale);

namespace operations {

inline const Operation sum(
    "sum",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      std::vector<bool> marked(in[0].shape().size(), false);
      for (int64_t d : a.integers("axes")) {
        const auto axis = static_cast<size_t>(dimension(d, in[0].rank(), "sum"));
        if (marked[axis]) fail("sum: dimension ", axis, " of ", to_string(in[0].shape()), " is named twice");
        marked[axis] = true;
      }
      return {sum_over(in[0], marked, a.real("scale", 1))};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      const double scale = t.attributes().real("scale", 1);
      return {saltern::expand(scale == 1 ? dy[0] : saltern::sum(dy[0], {}, scale), t.shape(0))};
    });

inline const Operation expand(
    "expand",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      const Tensor y = Tensor::empty(a.integers("shape"), in[0].type());
      copy(y, in[0]);
      return {y};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      return {sum_to(dy[0], t.shape(0))};
    });

}  // namespace operations

inline Variable sum(const Variable &x, const std::vector<int64_t> &axes, double scale) {
  return apply_one(operations::sum, {x}, {{"axes", axes}, {"scale", scale}});
}

inline Variable mean(const Variable &x, const std::vector<int64_t> &axes) {
  int64_t count = 1;  // sum() refuses a dimension that is named twice
  for (int64_t d : axes) count *= x.shape()[dimension(d, x.value().rank(), "mean")];
  if (count == 0) fail("mean: there are no elements to take it of in ", to_string(x.shape()));
  return sum(x, axes, 1.0 / static_cast<double>(count));
}

inline std::vector<int64_t> all_dimensions(const Variable &x) {
  std::vector<int64_t> axes(x.shape().size());
  for (size_t d = 0; d < axes.size(); ++d) axes[d] = static_cast<int64_t>(d);
  return axes;
}

inline Variable sum(const Variable &x) { return reshape(sum(x, all_dimensions(x)), {}); }
inline Variable mean(const Variable &x) { return reshape(mean(x, all_dimensions(x)), {}); }

inline Variable expand(const Variable &x, const Shape &shape) {
  return x.shape() == shape ? x : apply_one(operations::expand, {x}, {{"shape", shape}});
}

inline Variable sum_to(const Variable &x, const Shape &shape) {
  if (x.shape() == shape) return x;
  const size_t more = x.shape().size() - shape.size();
  std::vector<int64_t> axes;
  for (size_t d = 0; d < x.shape().size(); ++d)
    if (d < more || (shape[d - more] == 1 && x.shape()[d] != 1)) axes.push_back(static_cast<int64_t>(d));
  const Variable y = sum(x, axes);
  return y.shape() == shape ? y : reshape(y, shape);
}

}  // namespace saltern
