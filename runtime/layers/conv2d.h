#pragma once
// y(n, o, p, q) = b(o) + sum over c, ky, kx of w(o, c, ky, kx) x(n, g(o) + c, p*stride - pad + ky*dilation, likewise x)
//
// The operation "conv2d": x (N, C, H, W), w (O, C / groups, KH, KW), b (O), which may be left out -> y (N, O, P, Q).
// Attributes: strides, pads, dilations (runtime/layers/window.h), groups. Images and weights are stored channels last.
// Where every channel is a group of its own, the depthwise kernels do the work.

#include "runtime/autograd/variable.h"
#include "runtime/layers/window.h"

namespace saltern {

struct Conv2dOptions {
  Pair stride = 1, padding = 0, dilation = 1;
  int64_t groups = 1;
};

// An image for the operation: with channels innermost in memory, as kernels want it, where a tape will keep it, whose
// gradient rule reads it again. Nothing is recorded while nets are traced.
Variable image_to_keep(const Variable &x);

Variable conv2d(const Variable &x, const Variable &w, const Variable &b = {}, const Conv2dOptions &o = {});

}  // namespace saltern
