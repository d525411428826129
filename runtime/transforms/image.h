#pragma once
// Pictures as transforms see them: planes of f32, whatever they came as, and values from 0 to `bound`.
//
//   Image i = image_of(tensor);      // (..., C, H, W), u8 from 0 to 255 or real numbers from 0 to 1
//   tensor_of(i)                     // of the type that it came as; whole numbers are cut off, as PyTorch casts
//
// One sample is some hundred kilobytes that a loader's thread has to itself: loops do, which no other thread waits for and
// nothing has to be compiled for.

#include <functional>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace saltern::transforms {

// In pixels.
struct Place {
  double x, y;
};

struct Image {
  Shape outer;  // dimensions before the channels
  int64_t channels = 0, height = 0, width = 0;
  std::vector<float> pixels;  // (outer..., channels, height, width)
  Type type = Type::f32;      // that it came as
  // What goes where the pixels go, from the upper left corner on: the corners of boxes, four each, and key points.
  std::vector<Place> corners = {}, keypoints = {};
  bool has_moved = false;

  bool is_whole() const { return !is_real(type); }
  float bound() const { return is_whole() ? 255 : 1; }
  int64_t area() const { return height * width; }
  int64_t planes() const { return area() > 0 ? static_cast<int64_t>(pixels.size()) / area() : 0; }
  // How many images of `channels` there are.
  int64_t count() const { return channels > 0 ? planes() / channels : 0; }
  float *plane(int64_t i) { return pixels.data() + i * area(); }
  const float *plane(int64_t i) const { return pixels.data() + i * area(); }

  // Where each of these places goes.
  void move(const std::function<Place(const Place &)> &to);

  // Another of this kind, with zeros, and the same places.
  Image like(int64_t new_channels, int64_t new_height, int64_t new_width) const;
  Image like(int64_t new_height, int64_t new_width) const { return like(channels, new_height, new_width); }
};

// Throws an Error in the name of `owner` where it is no picture.
Image image_of(const std::string &owner, const Tensor &t);
Tensor tensor_of(const Image &image);

// Whole numbers to the nearest one, ties to even ones; real ones stay.
void round_whole(Image &image);
// Within 0 and the bound.
void clamp(Image &image);

}  // namespace saltern::transforms
