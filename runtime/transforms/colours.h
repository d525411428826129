#pragma once
// Colours of pictures, as torchvision.transforms.v2.functional has them: factors of 1 leave a picture as it is.

#include "runtime/transforms/image.h"

namespace saltern::transforms {

// 0.2989 r + 0.587 g + 0.114 b, in so many channels that are the same.
Image grey(const Image &x, int64_t channels);
Image with_brightness(Image x, double factor);
Image with_contrast(Image x, double factor);
Image with_saturation(Image x, double factor);
// Turned by a part of the circle of colours.
Image with_hue(Image x, double part);
// 0: blurred.
Image with_sharpness(const Image &x, double factor);
// Each channel from 0 to the bound.
Image with_all_contrast(Image x);
// Each channel with as many dark pixels as light ones.
Image equalized(Image x);
Image inverted(Image x);
// The first bits of eight.
Image posterized(Image x, int64_t bits);
// What is at least so light, inverted.
Image solarized(Image x, double threshold);
// Channel i is channel order[i].
Image with_channels(const Image &x, const std::vector<int64_t> &order);

}  // namespace saltern::transforms
