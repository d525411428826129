// Sizes, parts, turns and blur beside loops that are written out, and beside the interpolation of the library.

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "runtime/nn/all.h"
#include "tests/errors.h"
#include "tests/runtime/transforms/pictures.h"

namespace saltern::transforms {
namespace {

using namespace nn::literals;

TEST(Transforms, ResizeIsTheInterpolationOfTheLibrary) {
  const Tensor x = picture({1, 2, 13, 9});
  for (const auto &[height, width] : {std::pair(6, 5), std::pair(20, 31), std::pair(13, 4)})
    for (const char *mode : {"bilinear", "bicubic"})
      for (const bool antialias : {false, true}) {
        const Tensor wanted = nn::interpolate(x, {height, width}, "mode"_a = mode, "antialias"_a = antialias).value();
        expect_near(made(Resize({height, width}, mode, "antialias"_a = antialias), x), wanted, 2e-6);
      }
  expect_near(made(Resize({7, 20}, "nearest"), x), nn::interpolate(x, {7, 20}, "mode"_a = "nearest").value(), 0);
  expect_near(made(Resize({7, 20}, "nearest-exact"), x),
              nn::interpolate(x, {7, 20}, "mode"_a = "nearest-exact").value(), 0);
  // The shorter side, and a bound of the longer one.
  EXPECT_EQ(made(Resize(6), x).shape(), (Shape{1, 2, 8, 6}));
  EXPECT_EQ(made(Resize(6, "max_size"_a = 7), x).shape(), (Shape{1, 2, 7, 5}));
  EXPECT_EQ(made(Resize(Argument(), "max_size"_a = 26), x).shape(), (Shape{1, 2, 26, 18}));
}

TEST(Transforms, BytesAreRoundedWhereTheyAreMixed) {
  const Tensor x = bytes({3, 8, 8});
  const Tensor same = Tensor::empty({1, 3, 8, 8});
  for (int64_t i = 0; i < x.size(); ++i) same.data<float>()[i] = x.data<uint8_t>()[i];
  const Tensor real = nn::interpolate(same, {5, 5}, "mode"_a = "bilinear", "antialias"_a = true).value();
  const Tensor y = made(Resize({5, 5}), x);
  EXPECT_EQ(y.type(), Type::u8);
  const std::vector<double> wanted = real.reals(), is = y.reals();
  for (size_t i = 0; i < is.size(); ++i) EXPECT_NEAR(is[i], wanted[i], 0.5001);
}

TEST(Transforms, PartsAndPadding) {
  const Tensor x = picture({2, 5, 7});
  expect_near(made(CenterCrop({2, 3}), x),
              by_loops({2, 2, 3}, [&](auto c, auto i, auto j) { return at(x, c, i + 2, j + 2); }), 0);
  // Larger than the picture: zeros around, more of them behind.
  expect_near(made(CenterCrop({8, 7}), x),
              by_loops({2, 8, 7}, [&](auto c, auto i, auto j) { return i >= 1 && i < 6 ? at(x, c, i - 1, j) : 0; }), 0);
  const auto mirrored = [](int64_t i, int64_t n, bool edge_twice) {
    if (i < 0) i = edge_twice ? -1 - i : -i;
    if (i >= n) i = edge_twice ? 2 * n - 1 - i : 2 * n - 2 - i;
    return i;
  };
  for (const bool symmetric : {false, true})
    expect_near(made(Pad({1, 2, 3, 0}, "padding_mode"_a = symmetric ? "symmetric" : "reflect"), x),
                by_loops({2, 7, 11},
                         [&](auto c, auto i, auto j) {
                           return at(x, c, mirrored(i - 2, 5, symmetric), mirrored(j - 1, 7, symmetric));
                         }),
                0);
  expect_near(made(Pad(1, {0.25, 0.5}), x),
              by_loops({2, 7, 9},
                       [&](auto c, auto i, auto j) {
                         const bool inside = i >= 1 && i < 6 && j >= 1 && j < 8;
                         return inside ? at(x, c, i - 1, j - 1) : c == 0 ? 0.25F : 0.5F;
                       }),
              0);
  // A part as large as the picture is the picture.
  expect_near(made(RandomCrop({5, 7}), x), x, 0);
  expect_error([&] { made(RandomCrop(9), x); }, {"RandomCrop", "5 x 7", "9 x 9"});
  std::set<double> corners;
  for (uint64_t seed = 0; seed < 200; ++seed) corners.insert(made(RandomCrop(4), x, seed).at<float>({0, 0, 0}));
  EXPECT_EQ(corners.size(), 2U * 4U);  // every place that there is
  Random random(1);
  const Argument five = FiveCrop(2).call(random, {x});
  const std::vector<Variable> all = nn::variables_of(five);
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[3].value().at<float>({1, 1, 1}), at(x, 1, 4, 6));
  EXPECT_EQ(nn::variables_of(TenCrop(2).call(random, {x}))[5].value().at<float>({0, 0, 0}), at(x, 0, 0, 6));
}

TEST(Transforms, FlipsAndTurns) {
  const Tensor x = picture({2, 4, 6}), square = picture({1, 5, 5});
  expect_near(made(RandomHorizontalFlip(1.0), x),
              by_loops({2, 4, 6}, [&](auto c, auto i, auto j) { return at(x, c, i, 5 - j); }), 0);
  expect_near(made(RandomVerticalFlip(1.0), x),
              by_loops({2, 4, 6}, [&](auto c, auto i, auto j) { return at(x, c, 3 - i, j); }), 0);
  expect_near(made(RandomHorizontalFlip(0.0), x), x, 0);
  // A quarter counter-clockwise.
  for (const char *mode : {"nearest", "bilinear"})
    expect_near(made(RandomRotation({90, 90}, mode), square),
                by_loops({1, 5, 5}, [&](auto c, auto i, auto j) { return at(square, c, j, 4 - i); }), 1e-5);
  expect_near(made(RandomRotation({90, 90}, "nearest", true), x),
              by_loops({2, 6, 4}, [&](auto c, auto i, auto j) { return at(x, c, j, 5 - i); }), 1e-5);
  // Moved by whole pixels, with a fill; a number that is drawn from one value.
  const Tensor moved = made(RandomAffine(0, "scale"_a = Argument({2.0, 2.0}), "fill"_a = 0.5), square);
  EXPECT_FLOAT_EQ(moved.at<float>({0, 2, 2}), at(square, 0, 2, 2));  // the middle stays
  expect_near(made(RandomPerspective(0.0, 1.0), x), x, 1e-5);
  expect_near(made(ElasticTransform(0.0), x), x, 1e-6);
}

// One bilinear pixel of a turned picture, by hand; and the mask that mixes the fill in.
TEST(Transforms, WhatIsOutsideIsMixedInAsTorchvisionDoes) {
  const Tensor x = picture({1, 7, 7});
  const double turn = 30 * std::acos(-1.0) / 180;
  const Tensor y = made(RandomRotation({30, 30}, "bilinear", "fill"_a = 0.75), x);
  const Tensor wanted = by_loops({1, 7, 7}, [&](auto, auto i, auto j) {
    const double u = static_cast<double>(j) - 3, v = static_cast<double>(i) - 3;
    const double px = std::cos(turn) * u - std::sin(turn) * v + 3, py = std::sin(turn) * u + std::cos(turn) * v + 3;
    double sum = 0, inside = 0;
    for (int64_t r = 0; r < 7; ++r)
      for (int64_t c = 0; c < 7; ++c) {
        const double w = std::max(0.0, 1 - std::abs(px - static_cast<double>(c))) *
                         std::max(0.0, 1 - std::abs(py - static_cast<double>(r)));
        sum += w * at(x, 0, r, c);
        inside += w;
      }
    return inside * (sum - 0.75) + 0.75;
  });
  expect_near(y, wanted, 1e-5);
}

TEST(Transforms, Blur) {
  const Tensor x = picture({1, 6, 5});
  const auto weight = [](int64_t k, double sigma) {
    return std::exp(-0.5 * static_cast<double>(k * k) / (sigma * sigma));
  };
  const auto around = [](int64_t i, int64_t n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; };
  const Tensor wanted = by_loops({1, 6, 5}, [&](auto c, auto i, auto j) {
    double sum = 0, all = 0;
    for (int64_t di = -2; di <= 2; ++di)
      for (int64_t dj = -1; dj <= 1; ++dj) {
        const double w = weight(di, 0.8) * weight(dj, 0.8);
        sum += w * at(x, c, around(i + di, 6), around(j + dj, 5));
        all += w;
      }
    return sum / all;
  });
  expect_near(made(GaussianBlur({3, 5}, {0.8, 0.8}), x), wanted, 1e-6);
  expect_error([] { GaussianBlur(4); }, {"GaussianBlur", "kernel_size", "odd"});
}

TEST(Transforms, BoxesAndKeyPointsGoWithThePicture) {
  Random numbers(1);
  const Tensor boxes = Tensor::of<float>({1, 4}, {1, 2, 4, 5}), points = Tensor::of<float>({2, 2}, {0, 0, 6, 4});
  const Transform flip = Compose({RandomHorizontalFlip(1.0), Pad({1, 2, 0, 0})});
  const Scene y = flip(Scene{picture({2, 5, 7}), boxes, points}, numbers);
  EXPECT_EQ(y.image.shape(), (Shape{2, 7, 8}));
  EXPECT_EQ(y.boxes.reals(), (std::vector<double>{4, 4, 7, 7}));
  EXPECT_EQ(y.keypoints.reals(), (std::vector<double>{7, 2, 1, 6}));
  const Scene only_points = flip(Scene{picture({2, 5, 7}), {}, points}, numbers);
  EXPECT_FALSE(only_points.boxes.defined());
  EXPECT_EQ(only_points.keypoints.reals(), y.keypoints.reals());
  expect_error([&] { flip(Scene{picture({2, 5, 7}), points, {}}, numbers); }, {"'boxes'", "4"});
}

}  // namespace
}  // namespace saltern::transforms
