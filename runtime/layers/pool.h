#pragma once
// Pooling: the largest or the mean of each window of an image (N, C, H, W).
//   max_pool2d      attributes: kernel (y, x), strides, pads, dilations -> y, and the position of each maximum (i32)
//   average_pool2d  the same, and count_padding: whether zeros outside the image count in the mean

#include "runtime/autograd/variable.h"
#include "runtime/layers/window.h"

namespace saltern {

struct PoolOptions {
  Pair stride = 0;  // 0: the kernel's own extent
  Pair padding = 0, dilation = 1;
  bool count_padding = true;  // means only
};

Variable max_pool2d(const Variable &x, Pair kernel, const PoolOptions &o = {});
Variable average_pool2d(const Variable &x, Pair kernel, const PoolOptions &o = {});

}  // namespace saltern
