#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/normalisation.h"
#include "tests/values.h"

namespace saltern {
namespace {

using formula::Value;
using formula::Values;

constexpr double epsilon = 1e-3;

Value layer_norm(const Values &in) { return algorithms::layer_norm(in[0], in[1], in[2], epsilon); }
Value rms_norm(const Values &in) { return algorithms::rms_norm(in[0], in[1], epsilon); }

class RowNorm : public testing::TestWithParam<std::pair<int, int>> {
 protected:
  const int width = GetParam().first, rows = GetParam().second;
  const Halide::Buffer<double> x = random_buffer<double>({width, rows}, 1, -3, 5),
                               scale = random_buffer<double>({width}, 2), shift = random_buffer<double>({width}, 3);

  // The mean of f(c) over a row.
  template <typename F>
  double mean(const F &f) const {
    double sum = 0;
    for (int c = 0; c < width; ++c) sum += f(c);
    return sum / width;
  }
};

TEST_P(RowNorm, OfLayersIsThatOfALoop) {
  const auto y = result_of<double>(layer_norm, {x, scale, shift});
  for (int n = 0; n < rows; ++n) {
    const double middle = mean([&](int c) { return x(c, n); });
    const double variance = mean([&](int c) { return std::pow(x(c, n) - middle, 2); });
    for (int c = 0; c < width; ++c)
      EXPECT_NEAR(y(c, n), scale(c) * (x(c, n) - middle) / std::sqrt(variance + epsilon) + shift(c), 1e-12);
  }
}

TEST_P(RowNorm, OfSquaresIsThatOfALoop) {
  const auto y = result_of<double>(rms_norm, {x, scale});
  for (int n = 0; n < rows; ++n) {
    const double square = mean([&](int c) { return x(c, n) * x(c, n); });
    for (int c = 0; c < width; ++c) EXPECT_NEAR(y(c, n), scale(c) * x(c, n) / std::sqrt(square + epsilon), 1e-12);
  }
}

TEST_P(RowNorm, GradientsMatchFiniteDifferences) {
  expect_gradients(layer_norm, {x, scale, shift});
  expect_gradients(rms_norm, {x, scale});
}

INSTANTIATE_TEST_SUITE_P(Sizes, RowNorm, testing::Values(std::pair{1, 1}, std::pair{2, 5}, std::pair{17, 3}));

}  // namespace
}  // namespace saltern
