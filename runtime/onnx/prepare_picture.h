#pragma once
// What image classifiers want done to a picture before they see it:
//
//   y(n, c, h, w) = (x(h, w, c) * scale - mean(c)) / deviation(c),  x resized, then cropped around its middle
//
// A picture is as runtime/data/png.h has it, u8 (height, width, channels).

#include <vector>

#include "runtime/tensor/tensor.h"

namespace saltern {

struct PictureSize {
  int64_t width = 0, height = 0;  // 0 and 0: as it is
};

struct Preparation {
  // A height of 0: the shorter side becomes `width` pixels, and the picture keeps its proportions.
  PictureSize resize, crop;
  double scale = 1.0 / 255;
  std::vector<double> mean, deviation;  // one for each channel, one for all, or none: 0 and 1
  bool reverse_channels = false;        // RGB becomes BGR, before the means are subtracted
};

// f32 (height, width, channels), row major. Resizing is bilinear, over all pixels that a smaller one covers (as Pillow
// and torchvision with antialias). Throws an Error where the picture is smaller than the crop, or the channels are not
// those of mean and deviation; the caller knows the picture's name.
Tensor prepared(const Tensor &picture, const Preparation &how);

}  // namespace saltern
