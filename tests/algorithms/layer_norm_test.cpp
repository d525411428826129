#include "algorithms/layer_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/evaluate.h"
#include "tests/random_buffer.h"

namespace saltern {
namespace {

using dsl::Tensor;

constexpr double epsilon = 1e-3;

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
  const auto y = evaluate<double>(algorithms::layer_norm(Tensor(x), Tensor(scale), Tensor(shift), 1e-3f).y);
  for (int n = 0; n < rows; ++n) {
    const double middle = mean([&](int c) { return x(c, n); });
    const double variance = mean([&](int c) { return std::pow(x(c, n) - middle, 2); });
    for (int c = 0; c < width; ++c)
      EXPECT_NEAR(y(c, n), scale(c) * (x(c, n) - middle) / std::sqrt(variance + epsilon) + shift(c), 1e-7);
  }
}

TEST_P(RowNorm, OfSquaresIsThatOfALoop) {
  const auto y = evaluate<double>(algorithms::rms_norm(Tensor(x), Tensor(scale), 1e-3f).y);
  for (int n = 0; n < rows; ++n) {
    const double square = mean([&](int c) { return x(c, n) * x(c, n); });
    for (int c = 0; c < width; ++c) EXPECT_NEAR(y(c, n), scale(c) * x(c, n) / std::sqrt(square + epsilon), 1e-7);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, RowNorm, testing::Values(std::pair{1, 1}, std::pair{2, 5}, std::pair{17, 3}));

}  // namespace
}  // namespace saltern
