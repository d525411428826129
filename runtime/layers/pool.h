#pragma once
// Pooling: the largest or the mean of each window of an image (N, C, H, W).
//   max_pool2d      attributes: kernel (y, x), strides, pads, dilations -> y, and the position of each maximum (i32)
//   average_pool2d  the same, and count_padding: whether zeros outside the image count in the mean

#include "runtime/layers/module.h"
#include "runtime/layers/window.h"

namespace saltern {

struct PoolOptions {
  Pair stride = 0;  // 0: the kernel's own extent
  Pair padding = 0, dilation = 1;
  bool count_padding = true;  // means only
};

Variable max_pool2d(const Variable &x, Pair kernel, const PoolOptions &o = {});
Variable average_pool2d(const Variable &x, Pair kernel, const PoolOptions &o = {});

class MaxPool2d : public Module {
 public:
  explicit MaxPool2d(Pair kernel, const PoolOptions &options = {}) : kernel_(kernel), options_(options) {}
  Variable forward(const Variable &x) override { return max_pool2d(x, kernel_, options_); }

 private:
  Pair kernel_;
  PoolOptions options_;
};

class AvgPool2d : public Module {
 public:
  explicit AvgPool2d(Pair kernel, const PoolOptions &options = {}) : kernel_(kernel), options_(options) {}
  Variable forward(const Variable &x) override { return average_pool2d(x, kernel_, options_); }

 private:
  Pair kernel_;
  PoolOptions options_;
};

}  // namespace saltern
