// Types, scales, noise and colours beside loops that are written out.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/errors.h"
#include "tests/runtime/transforms/pictures.h"

namespace saltern::transforms {
namespace {

using namespace nn::literals;

TEST(Transforms, Values) {
  const Tensor x = picture({3, 2, 4});
  expect_near(made(Normalize({0.5, 0.4, 0.3}, {0.1, 0.2, 0.3}), x),
              by_loops({3, 2, 4},
                       [&](auto c, auto i, auto j) {
                         const float mean[] = {0.5F, 0.4F, 0.3F}, deviation[] = {0.1F, 0.2F, 0.3F};
                         return (at(x, c, i, j) - mean[c]) / deviation[c];
                       }),
              1e-6);
  const Tensor whole = bytes({3, 2, 4}), real = made(ToDtype("float32", true), whole);
  for (int64_t i = 0; i < whole.size(); ++i)
    EXPECT_FLOAT_EQ(real.data<float>()[i], static_cast<float>(whole.data<uint8_t>()[i]) / 255);
  expect_near(made(ToDtype("uint8", true), real), whole, 0);  // and back
  expect_near(made(ConvertImageDtype("uint8"), real), whole, 0);
  expect_error([&] { made(Normalize(0.5, 0.1), whole); }, {"Normalize", "whole numbers"});
  expect_error([&] { Normalize(0.5, 0.0); }, {"Normalize", "std"});
  const Tensor noise = made(GaussianNoise(0.0, 0.1, false), Tensor::full({1, 100, 100}, 0.5));
  double mean = 0, square = 0;
  for (const double v : noise.reals()) mean += v / 1e4, square += (v - 0.5) * (v - 0.5) / 1e4;
  EXPECT_NEAR(mean, 0.5, 0.01);
  EXPECT_NEAR(std::sqrt(square), 0.1, 0.01);
  const Tensor matrix = picture({8, 8}), middle = picture({8}), flat = picture({1, 2, 4});
  const std::vector<double> m = matrix.reals(), mu = middle.reals(), f = flat.reals(),
                            y = made(LinearTransformation(matrix, middle), flat).reals();
  for (size_t k = 0; k < 8; ++k) {
    double sum = 0;
    for (size_t i = 0; i < 8; ++i) sum += (f[i] - mu[i]) * m[i * 8 + k];
    EXPECT_NEAR(y[k], sum, 1e-5);
  }
  const Tensor video = picture({7, 1, 2, 2}), frames = made(UniformTemporalSubsample(3), video);
  EXPECT_EQ(frames.shape(), (Shape{3, 1, 2, 2}));
  EXPECT_EQ(frames.at<float>({1, 0, 1, 1}), video.at<float>({3, 0, 1, 1}));
}

double grey_of(const Tensor &x, int64_t i, int64_t j) {
  return 0.2989 * at(x, 0, i, j) + 0.587 * at(x, 1, i, j) + 0.114 * at(x, 2, i, j);
}
double within(double v) { return std::min(std::max(v, 0.0), 1.0); }

TEST(Transforms, Colours) {
  const Tensor x = picture({3, 4, 5});
  const Argument twice = {2.0, 2.0};
  expect_near(made(Grayscale(3), x), by_loops({3, 4, 5}, [&](auto, auto i, auto j) { return grey_of(x, i, j); }), 1e-6);
  expect_near(made(ColorJitter(twice), x),
              by_loops({3, 4, 5}, [&](auto c, auto i, auto j) { return within(2 * at(x, c, i, j)); }), 1e-6);
  double mean = 0;
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 5; ++j) mean += grey_of(x, i, j) / 20;
  expect_near(made(ColorJitter("contrast"_a = twice), x),
              by_loops({3, 4, 5}, [&](auto c, auto i, auto j) { return within(2 * at(x, c, i, j) - mean); }), 1e-6);
  expect_near(
      made(ColorJitter("saturation"_a = twice), x),
      by_loops({3, 4, 5}, [&](auto c, auto i, auto j) { return within(2 * at(x, c, i, j) - grey_of(x, i, j)); }), 1e-6);
  // A third of the circle: green becomes what red was.
  expect_near(made(ColorJitter("hue"_a = Argument({1.0 / 3, 1.0 / 3})), x),
              by_loops({3, 4, 5}, [&](auto c, auto i, auto j) { return at(x, (c + 2) % 3, i, j); }), 1e-5);
  expect_near(made(RandomInvert(1.0), x),
              by_loops({3, 4, 5}, [&](auto c, auto i, auto j) { return 1 - at(x, c, i, j); }), 1e-6);
  expect_near(made(RandomSolarize(0.6, 1.0), x),
              by_loops({3, 4, 5}, [&](auto c, auto i,
                                      auto j) { return at(x, c, i, j) >= 0.6 ? 1 - at(x, c, i, j) : at(x, c, i, j); }),
              1e-6);
  expect_near(made(RandomPosterize(2, 1.0), x),
              by_loops({3, 4, 5}, [&](auto c, auto i, auto j) { return std::floor(at(x, c, i, j) * 4) / 4; }), 1e-6);
  expect_near(made(RandomAdjustSharpness(0.0, 1.0), x),
              by_loops({3, 4, 5},
                       [&](auto c, auto i, auto j) -> double {
                         if (i == 0 || i == 3 || j == 0 || j == 4) return at(x, c, i, j);
                         double sum = 4 * at(x, c, i, j);
                         for (int64_t di = -1; di <= 1; ++di)
                           for (int64_t dj = -1; dj <= 1; ++dj) sum += at(x, c, i + di, j + dj);
                         return sum / 13;
                       }),
              1e-6);
  const Tensor stretched = made(RandomAutocontrast(1.0), x);
  for (int64_t c = 0; c < 3; ++c) {
    const std::vector<double> channel = stretched.slice(0, c, 1).reals();
    EXPECT_FLOAT_EQ(*std::min_element(channel.begin(), channel.end()), 0);
    EXPECT_FLOAT_EQ(*std::max_element(channel.begin(), channel.end()), 1);
  }
  EXPECT_EQ(made(RGB(), picture({1, 4, 5})).shape(), (Shape{3, 4, 5}));
  expect_error([&] { made(Grayscale(), picture({2, 4, 5})); }, {"Grayscale", "2 channels"});
}

// Two values, of which each has half of the pixels: the least becomes 0, the other stays above it by the cumulated count.
TEST(Transforms, EqualizeByItsDefinition) {
  const Tensor x = bytes({1, 40, 40});
  std::vector<int64_t> counts(256), cumulated(256);
  for (int64_t i = 0; i < x.size(); ++i) ++counts[x.data<uint8_t>()[i]];
  for (size_t b = 0, sum = 0; b < 256; ++b) cumulated[b] = static_cast<int64_t>(sum += static_cast<size_t>(counts[b]));
  size_t last = 255;
  while (counts[last] == 0) --last;
  const int64_t step = (x.size() - counts[last]) / 255;
  const Tensor y = made(RandomEqualize(1.0), x);
  for (int64_t i = 0; i < x.size(); ++i) {
    const size_t b = x.data<uint8_t>()[i];
    const int64_t wanted = b == 0 ? 0 : std::min<int64_t>((cumulated[b - 1] + step / 2) / step, 255);
    EXPECT_EQ(y.data<uint8_t>()[i], wanted);
  }
}

}  // namespace
}  // namespace saltern::transforms
