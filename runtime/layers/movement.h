#pragma once
// Operations that move elements and compute nothing.
//   reshape    attributes: shape. Elements in row-major order under another shape.
//   transpose  attributes: order. Dimension d of y is dimension order[d] of x; no element moves, strides do.
//   concat     attributes: axis. The inputs one after the other along a dimension, their other extents equal.
//   slice      attributes: axis, begin, count. A part along a dimension; no element moves.

#include "runtime/autograd/variable.h"

namespace saltern {

// One extent may be -1: whatever is left.
Variable reshape(const Variable &x, Shape shape);
Variable transpose(const Variable &x, const std::vector<int64_t> &order);
// The last two dimensions exchanged.
Variable transposed(const Variable &x);
// A negative axis counts from the end.
Variable concat(const std::vector<Variable> &parts, int64_t axis);
Variable slice(const Variable &x, int64_t axis, int64_t begin, int64_t count);

// Dimension d of a tensor of that rank, where negative ones count from the end.
int dimension(int64_t d, int rank, const std::string &who);
// 0, 1, ... for each dimension of x.
std::vector<int64_t> all_dimensions(const Variable &x);

}  // namespace saltern
