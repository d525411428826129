#pragma once
// Parts that several operators are made of.

#include "runtime/onnx/operators/lowering.h"

namespace saltern {

// y(n, o) = b(o) + sum over i of w(o, i) x(n, i); b may be absent. The library's kernel for f32, a
// formula for other types.
Operand dense(Lowering &n, const Operand &x, const Operand &w, const Operand &b = {});

// All along an axis, one after another. Throws where types or other extents differ.
Operand concatenated(Lowering &n, const std::vector<Operand> &parts, int axis);
// Tensors of one shape along a new axis; negative ones count from the end of the result's.
Operand stacked(Lowering &n, const std::vector<Operand> &parts, int64_t axis);

// The part [begin, begin + count) of an axis.
Operand sliced(Lowering &n, const Operand &x, int axis, int64_t begin, int64_t count);
// Place i of an axis, without that axis.
Operand taken(Lowering &n, const Operand &x, int axis, int64_t i);

// A tensor of one value.
Operand filled(Lowering &n, Type type, const Shape &shape, double value);

// The number of an element in row-major order.
Expression row_major_index(const Axes &at, const Shape &shape);

}  // namespace saltern
