#pragma once
// Windows that slide over the spatial dimensions of (N, C, D1, ..., Dn), as the attributes of convolutions and pools
// describe them: kernel_shape, strides, dilations, pads or auto_pad, ceil_mode.
//
//   along each dimension, tap t of the window at position p reads element  p * stride - before + t * dilation

#include "algorithms/sliding.h"
#include "runtime/onnx/operators/lowering.h"

namespace saltern {

struct SlidingAxis {
  int64_t extent, kernel, stride, dilation, before, after, positions;

  int64_t span() const { return (kernel - 1) * dilation + 1; }
  algorithms::Slide slide() const { return {stride, dilation, before, after, positions}; }
};

using SlidingAxes = std::vector<SlidingAxis>;

// A list of integers, one for each of `count` dimensions; `otherwise` for all of them where there is no such attribute.
std::vector<int64_t> per_axis(const Lowering &n, const std::string &name, size_t count, int64_t otherwise,
                              int64_t least);
// The attribute auto_pad, or NOTSET; throws where it is none of the four words.
std::string automatic_padding(const Lowering &n);

// Over an image of that shape. `kernel` is that of the weights, or the attribute's where it is empty.
SlidingAxes sliding_axes(const Lowering &n, const Shape &image, Shape kernel = {});

// As "conv2d" and the pools of runtime/layers take them; both dimensions for images of rank 4, and with a first
// dimension of 1 put in for those of rank 3.
Attributes window_attributes(const SlidingAxes &axes);
// (N, C, L) as (N, C, 1, L); images of rank 4 as they are.
Shape as_image(const Shape &shape);
Operand as_image(Lowering &n, const Operand &x);

// One number of each axis.
inline Shape each_of(const SlidingAxes &axes, int64_t SlidingAxis::*what) {
  Shape all;
  for (const SlidingAxis &a : axes) all.push_back(a.*what);
  return all;
}
inline Shape kernel_of(const SlidingAxes &axes) { return each_of(axes, &SlidingAxis::kernel); }
inline Shape positions_of(const SlidingAxes &axes) { return each_of(axes, &SlidingAxis::positions); }
// (N, C, D1, ..., Dn)
inline Shape image_of(int64_t batch, int64_t channels, const Shape &spatial) {
  Shape shape = {batch, channels};
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  return shape;
}

algorithms::Slides slides_of(const SlidingAxes &axes);

}  // namespace saltern
