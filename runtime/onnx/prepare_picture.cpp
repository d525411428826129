#include "runtime/onnx/prepare_picture.h"

#include <algorithm>

#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/operators/wide_numbers.h"

namespace saltern {

namespace {

constexpr int64_t largest_side = 1 << 15;

PictureSize resized_to(const Tensor &picture, PictureSize wanted) {
  if (wanted.height > 0) return wanted;
  const int64_t height = picture.extent(0), width = picture.extent(1), shorter = std::min(width, height);
  return {wanted.width * width / shorter, wanted.width * height / shorter};
}

// ONNX's operator does it; one for both, so that a model's own resizing and this one agree.
Tensor resized(const Tensor &picture, PictureSize size) {
  if (size.width < 1 || size.height < 1 || size.width > largest_side || size.height > largest_side)
    fail("cannot resize to ", size.width, " x ", size.height, " pixels");
  Graph::Node node;
  node.operation = "Resize";
  node.outputs = {"y"};
  node.attributes = {{"mode", std::string("linear")}, {"antialias", int64_t{1}}, {"exclude_outside", int64_t{1}}};
  const Tensor sizes = Tensor::of<int64_t>({3}, {size.height, size.width, picture.extent(2)});
  constexpr int64_t opset = 19;
  return compute_operator(*find_operator("", "Resize"), node, opset, {picture, {}, {}, sizes}).at(0).tensor();
}

Tensor cropped(const Tensor &picture, PictureSize size) {
  const int64_t height = picture.extent(0), width = picture.extent(1);
  if (size.height > height || size.width > width)
    fail("a picture of ", width, " x ", height, " pixels cannot be cropped to ", size.width, " x ", size.height);
  return picture.slice(0, (height - size.height) / 2, size.height).slice(1, (width - size.width) / 2, size.width);
}

std::vector<double> by_channel(const std::vector<double> &given, size_t channels, double otherwise, const char *what) {
  if (given.empty()) return std::vector<double>(channels, otherwise);
  if (given.size() == 1) return std::vector<double>(channels, given[0]);
  if (given.size() != channels) fail(given.size(), " ", what, " for a picture of ", channels, " channels");
  return given;
}

}  // namespace

Tensor prepared(const Tensor &picture, const Preparation &how) {
  if (picture.type() != Type::u8 || picture.rank() != 3 || picture.size() == 0)
    fail("a picture is u8 (height, width, channels), not ", facts(picture.type()).name, to_string(picture.shape()));
  const auto channels = static_cast<size_t>(picture.extent(2));
  const std::vector<double> mean = by_channel(how.mean, channels, 0, "means"),
                            deviation = by_channel(how.deviation, channels, 1, "deviations");
  Tensor pixels = converted(picture, Type::f32);
  if (how.resize.width > 0) pixels = resized(pixels, resized_to(picture, how.resize));
  if (how.crop.width > 0) pixels = cropped(pixels, how.crop);

  const Tensor from = pixels.in_layout(Layout::row_major), y = Tensor::empty(from.shape());
  for (size_t i = 0; i < static_cast<size_t>(y.size()); ++i) {
    const size_t c = i % channels, source = how.reverse_channels ? i - c + channels - 1 - c : i;
    y.data<float>()[i] = static_cast<float>((from.data<float>()[source] * how.scale - mean[c]) / deviation[c]);
  }
  return y;
}

}  // namespace saltern
