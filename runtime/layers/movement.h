#pragma once
// Operations that move elements and compute nothing.
//   reshape    attributes: shape. Elements in row-major order under another shape.
//   transpose  attributes: order. Dimension d of y is dimension order[d] of x; no element moves, strides do.

#include <algorithm>

#include "runtime/strided.h"
#include "runtime/variable.h"

namespace saltern {

// One extent may be -1: whatever is left.
inline Variable reshape(const Variable &x, Shape shape);
inline Variable transpose(const Variable &x, const std::vector<int64_t> &order);

// Dimension d of a tensor of that rank, where negative ones count from the end.
inline int dimension(int64_t d, int rank, const std::string &who) {
  if (d < -rank || d >= rank) fail(who, ": dimension ", d, " of a tensor of rank ", rank);
  return static_cast<int>(d < 0 ? d + rank : d);
}

namespace operations {

inline const Operation reshape(
    "reshape",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      return {row_major(in[0]).reshaped(a.integers("shape"))};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      return {saltern::reshape(dy[0], t.input(0).shape())};
    });

inline const Operation transpose(
    "transpose",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      const std::vector<int64_t> &order = a.integers("order");
      const Tensor &x = in[0];
      std::vector<int64_t> sorted = order;
      std::sort(sorted.begin(), sorted.end());
      for (size_t d = 0; d < sorted.size(); ++d)
        if (sorted.size() != x.shape().size() || sorted[d] != static_cast<int64_t>(d))
          fail("transpose: ", to_string(order), " is not an order of the dimensions of ", to_string(x.shape()));
      Shape shape, strides;
      for (int64_t d : order) {
        shape.push_back(x.shape()[d]);
        strides.push_back(x.strides()[d]);
      }
      return {x.viewed(shape, strides)};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      const std::vector<int64_t> &order = t.attributes().integers("order");
      std::vector<int64_t> inverse(order.size());
      for (size_t d = 0; d < order.size(); ++d) inverse[order[d]] = static_cast<int64_t>(d);
      return {saltern::transpose(dy[0], inverse)};
    });

}  // namespace operations

inline Variable reshape(const Variable &x, Shape shape) {
  auto rest = std::find(shape.begin(), shape.end(), -1);
  if (rest != shape.end()) {
    *rest = 1;
    const int64_t others = elements(shape);
    if (others == 0 || x.value().size() % others != 0)
      fail("reshape: ", to_string(x.shape()), " does not divide into ", to_string(shape));
    *rest = x.value().size() / others;
  }
  return apply_one(operations::reshape, {x}, {{"shape", std::move(shape)}});
}

inline Variable transpose(const Variable &x, const std::vector<int64_t> &order) {
  return apply_one(operations::transpose, {x}, {{"order", order}});
}

}  // namespace saltern
