#include "runtime/transforms/image.h"

#include <algorithm>
#include <cmath>

#include "runtime/tensor/element.h"

namespace saltern::transforms {

Image Image::like(int64_t new_channels, int64_t new_height, int64_t new_width) const {
  Image made{outer, new_channels, new_height, new_width, {}, type, corners, keypoints, has_moved};
  made.pixels.assign(static_cast<size_t>(count() * new_channels * new_height * new_width), 0);
  return made;
}

void Image::move(const std::function<Place(const Place &)> &to) {
  has_moved = true;
  for (std::vector<Place> *all : {&corners, &keypoints})
    for (Place &p : *all) p = to(p);
}

Image image_of(const std::string &owner, const Tensor &t) {
  const Shape &s = t.shape();
  if (s.size() < 3) fail(owner, ": a picture is ", to_string(s), "; expected (..., C, H, W)");
  if (t.type() != Type::u8 && !is_real(t.type()))
    fail(owner, ": a picture is ", facts(t.type()).name, "; expected u8 or real numbers");
  if (t.size() == 0) fail(owner, ": a picture is ", to_string(s), ", which has no pixels");
  const size_t n = s.size();
  Image image{{s.begin(), s.end() - 3}, s[n - 3], s[n - 2], s[n - 1], {}, t.type()};
  const Tensor plain = t.in_layout(Layout::row_major);
  if (t.type() == Type::f32) {
    image.pixels.assign(plain.data<float>(), plain.data<float>() + plain.size());
  } else if (t.type() == Type::u8) {
    image.pixels.assign(plain.data<uint8_t>(), plain.data<uint8_t>() + plain.size());
  } else {
    const std::vector<double> all = plain.reals();
    image.pixels.assign(all.begin(), all.end());
  }
  return image;
}

Tensor tensor_of(const Image &image) {
  Shape shape = image.outer;
  shape.insert(shape.end(), {image.channels, image.height, image.width});
  const Tensor t = Tensor::empty(shape, image.type);
  if (image.type == Type::f32) {
    std::copy(image.pixels.begin(), image.pixels.end(), t.data<float>());
  } else if (image.type == Type::u8) {
    std::transform(image.pixels.begin(), image.pixels.end(), t.data<uint8_t>(),
                   [](float v) { return static_cast<uint8_t>(std::clamp(v, 0.0F, 255.0F)); });
  } else {
    for (int64_t i = 0; i < t.size(); ++i)
      set_element(t.type(), t.raw(), i, static_cast<double>(image.pixels[static_cast<size_t>(i)]));
  }
  return t;
}

void round_whole(Image &image) {
  if (image.is_whole())
    for (float &v : image.pixels) v = std::nearbyint(v);
}

void clamp(Image &image) {
  for (float &v : image.pixels) v = std::clamp(v, 0.0F, image.bound());
}

}  // namespace saltern::transforms
