#pragma once
// y(n, o, p, q) = b(o) + sum over c, ky, kx of w(o, c, ky, kx) x(n, g(o) + c, p*stride - pad + ky*dilation, likewise x)
//
// The operation "conv2d": x (N, C, H, W), w (O, C / groups, KH, KW), b (O), which may be left out -> y (N, O, P, Q).
// Attributes: strides, pads, dilations (runtime/layers/window.h), groups. Images and weights are stored channels last.
// Where every channel is a group of its own, the depthwise kernels do the work.

#include "runtime/layers/linear.h"
#include "runtime/layers/window.h"

namespace saltern {

struct Conv2dOptions {
  Pair stride = 1, padding = 0, dilation = 1;
  int64_t groups = 1;
  bool bias = true;
};

Variable conv2d(const Variable &x, const Variable &w, const Variable &b = {}, const Conv2dOptions &o = {});

// Conv2d(random, 32, 64, 3, {/*stride=*/1, /*padding=*/1})
class Conv2d : public Module {
 public:
  Variable weight, bias;

  Conv2d(Random &random, int64_t channels, int64_t outputs, Pair kernel, const Conv2dOptions &options = {});
  Variable forward(const Variable &x) override { return conv2d(x, weight, bias, options_); }
  void visit(Visitor &v) override {
    v.parameter("weight", weight);
    v.parameter("bias", bias);
  }

 private:
  Conv2dOptions options_;
};

}  // namespace saltern
