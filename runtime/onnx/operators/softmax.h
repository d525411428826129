#pragma once
// exp(x) / (sum of exp(x)) along an axis, and its logarithm; x is real. The library's kernels for f32 (f16 and bf16 by
// way of them), formulas for f64.

#include "runtime/onnx/operators/lowering.h"

namespace saltern {

Operand softmax(Lowering &n, const Operand &x, int axis);
Operand log_softmax(Lowering &n, const Operand &x, int axis);

}  // namespace saltern
