#pragma once
// y(n, o, p...) = b(o) + sum over c, t... of x(n, g(o) + c, p * stride - before + t * dilation ...) w(o, c, t...)
//
// x is (N, C, D1, ..., Dn), w (O, C / groups, K1, ..., Kn), b (O) or absent; all of one type, in which y is. The
// library's conv2d for one and two spatial dimensions of f32 (f16 and bf16 by way of it), a formula for the rest.

#include "runtime/onnx/operators/window.h"

namespace saltern {

Operand convolution(Lowering &n, const Operand &x, const Operand &w, const Operand &bias, const SlidingAxes &axes,
                    int64_t groups);

// The transpose of it, by a formula: y(n, o, i...) = b(o) + sum over c, t... of x(n, c, p...) w(c, o, t...), where p is
// the position whose tap t reads i. w is (C, O / groups, K1, ..., Kn); the axes slide over y.
Operand scattered(Lowering &n, const Operand &x, const Operand &w, const Operand &bias, const SlidingAxes &axes,
                  int64_t groups);

// Throw where weights have not the image's rank, and where channels and outputs do not divide into the attribute `group`.
void expect_weights(const Operand &x, const Operand &w);
int64_t groups_of(const Lowering &n, int64_t channels, int64_t outputs);

}  // namespace saltern
