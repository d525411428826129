// Pictures become what a net wants to see: resizing against plain loops over the pixels that a smaller one covers.

#include "runtime/onnx/prepare_picture.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/errors.h"

namespace saltern {
namespace {

Tensor noise(int64_t height, int64_t width, int64_t channels) {
  const Tensor t = Tensor::empty({height, width, channels}, Type::u8);
  for (int64_t i = 0; i < t.size(); ++i) t.data<uint8_t>()[i] = static_cast<uint8_t>(i * 89 + i / 7 * 31);
  return t;
}

// The weights of all pixels of a row for one pixel of the smaller or larger one: a triangle as wide as it covers.
std::vector<double> triangle(int64_t from, int64_t to, int64_t place) {
  const double scale = static_cast<double>(from) / static_cast<double>(to), support = std::max(1.0, scale);
  const double middle = (static_cast<double>(place) + 0.5) * scale;
  std::vector<double> weights;
  double sum = 0;
  for (int64_t i = 0; i < from; ++i) {
    weights.push_back(std::max(0.0, 1 - std::fabs(static_cast<double>(i) + 0.5 - middle) / support));
    sum += weights.back();
  }
  for (double &w : weights) w /= sum;
  return weights;
}

TEST(PreparedPicture, ResizingIsBilinearOverAllPixelsThatAreCovered) {
  const Tensor picture = noise(11, 17, 3);
  for (const PictureSize size : {PictureSize{5, 4}, PictureSize{17, 11}, PictureSize{20, 3}, PictureSize{1, 1}}) {
    Preparation how;
    how.resize = size;
    how.scale = 1;
    const Tensor y = prepared(picture, how);
    ASSERT_EQ(y.shape(), (Shape{size.height, size.width, 3}));
    for (int64_t h = 0; h < size.height; ++h)
      for (int64_t w = 0; w < size.width; ++w) {
        const auto rows = triangle(11, size.height, h), columns = triangle(17, size.width, w);
        double sum = 0;
        for (int64_t i = 0; i < 11; ++i)
          for (int64_t k = 0; k < 17; ++k)
            sum += rows[static_cast<size_t>(i)] * columns[static_cast<size_t>(k)] * picture.at<uint8_t>({i, k, 1});
        ASSERT_NEAR(y.at<float>({h, w, 1}), sum, 2e-3) << h << " " << w;
      }
  }
}

TEST(PreparedPicture, OneNumberIsTheShorterSide) {
  Preparation how;
  how.resize = {6, 0};
  EXPECT_EQ(prepared(noise(30, 20, 1), how).shape(), (Shape{9, 6, 1}));
  EXPECT_EQ(prepared(noise(20, 30, 1), how).shape(), (Shape{6, 9, 1}));
}

TEST(PreparedPicture, WhatCannotBeDoneIsSaid) {
  Preparation how;
  how.crop = {9, 9};
  expect_error([&] { prepared(noise(8, 12, 3), how); }, {"12 x 8", "9 x 9"});
  how.crop = {};
  how.mean = {1, 2};
  expect_error([&] { prepared(noise(8, 12, 3), how); }, {"2 means", "3 channels"});
  how.mean = {};
  how.resize = {1 << 20, 1};
  expect_error([&] { prepared(noise(8, 12, 3), how); }, {"1048576"});
  expect_error([&] { prepared(Tensor::zeros({2, 2}), {}); }, {"f32[2, 2]"});
}

}  // namespace
}  // namespace saltern
