#pragma once
// Matrix products, as the lowerings of many operators need them.

#include "runtime/onnx/operators/lowering.h"

namespace saltern {

// The type that sums and functions of it are computed in: f32 for the other real types.
inline Type working_type(Type type) { return is_real(type) && type != Type::f64 ? Type::f32 : type; }

// y(..., m, n) = sum over k of a(..., m, k) b(..., k, n); ranks of 2 and more, batches broadcast. The library's matmul
// for f32 (f16 and bf16 by way of it), a formula for other types.
Operand matrix_product(Lowering &n, const Operand &a, const Operand &b);

// The same as numpy's matmul has it: a vector is a row on the left, a column on the right, and leaves no dimension.
Operand matmul(Lowering &n, const Operand &a, const Operand &b);

}  // namespace saltern
