#pragma once
// Pictures of other sizes, parts of them, and pixels from other places.

#include "runtime/transforms/image.h"

namespace saltern::transforms {

enum class Filter { nearest, nearest_exact, bilinear, bicubic };

// As torch.nn.functional.interpolate; with `antialias`, filters are as wide as what becomes a pixel.
Image resized(const Image &x, int64_t height, int64_t width, Filter filter, bool antialias);

// From row `top` and column `left` on; what is outside is `fill`.
Image part_of(const Image &x, int64_t top, int64_t left, int64_t height, int64_t width, float fill = 0);

enum class Edge { constant, edge, reflect, symmetric };
struct Padding {
  int64_t left = 0, top = 0, right = 0, bottom = 0;
};
// Negative numbers cut off. `fill` is one number, or one for each channel.
Image padded(const Image &x, const Padding &padding, Edge edge, const std::vector<float> &fill);

Image flipped(const Image &x, bool across, bool down);

// Where a pixel of the result comes from; the first one's middle is 0.
using Where = std::function<Place(int64_t x, int64_t y)>;
// `fill` outside, mixed in by the part of a pixel that is, as torchvision does; nearest or bilinear. `to` is the other way
// round: where a place goes.
Image warped(const Image &x, int64_t height, int64_t width, const Where &from,
             const std::function<Place(const Place &)> &to, Filter filter, const std::vector<float> &fill);

// Along rows and along columns, reflected at the edges; kernels are of odd sizes.
Image filtered(const Image &x, const std::vector<float> &across, const std::vector<float> &down);
// e^(-k^2 / 2 sigma^2), 1 in all.
std::vector<float> bell(int64_t size, double sigma);

}  // namespace saltern::transforms
