#pragma once
// Parts that several operators are made of. Products and softmax are the library's kernels for f32 (f16 and bf16 by way of
// them), and formulas for other types.

#include "runtime/onnx/operators/lowering.h"

namespace saltern {

// The type that sums and functions of it are computed in: f32 for the other real types.
inline Type working_type(Type type) { return is_real(type) && type != Type::f64 ? Type::f32 : type; }

// y(..., m, n) = sum over k of a(..., m, k) b(..., k, n); ranks of 2 and more, batches broadcast.
Operand matrix_product(Lowering &n, const Operand &a, const Operand &b);
// The same as numpy's matmul has it: a vector is a row on the left, a column on the right, and leaves no dimension.
Operand matmul(Lowering &n, const Operand &a, const Operand &b);
// y(n, o) = b(o) + sum over i of w(o, i) x(n, i); b may be absent.
Operand dense(Lowering &n, const Operand &x, const Operand &w, const Operand &b = {});

// exp(x) / (sum of exp(x)) along an axis, and its logarithm; x is real.
Operand softmax(Lowering &n, const Operand &x, int axis);
Operand log_softmax(Lowering &n, const Operand &x, int axis);

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
