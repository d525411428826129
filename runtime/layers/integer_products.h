#pragma once
// Products of quantized numbers, exact in i32:
//
//   integer_conv2d  x (N, C, H, W) of u8, w (O, C / groups, KH, KW) of i8  ->  sum of (x - zero) w  in i32
//   integer_dense   x (N, I) of u8,       w (O, I) of i8                   ->  the same of rows
//
// Attributes: zero, the number of x that stands for 0, which lies around images, too; of integer_conv2d those of conv2d, of
// one group, whose window has no holes along a row, or of groups of one channel and one output each.
// Scales are not theirs: whoever reads the sums multiplies. Other types and zero points of weights are brought into this
// form, or are not (runtime/onnx/operators/quantized_products.cpp). They have no gradients.

#include <cstdint>

namespace saltern {

// No sum of so many products leaves i32, whatever x, w and zero are: 255 * 128 * most < 2^31.
constexpr int64_t most_integer_products = 65793;
// The taps of a window, so that sums over one channel are exact in f32, which library kernels compute in.
constexpr int64_t most_integer_taps = 512;

}  // namespace saltern
