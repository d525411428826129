#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/normalisation.h"
#include "tests/values.h"

namespace saltern {
namespace {

using algorithms::StatisticsOf;
using formula::Value;
using formula::Values;

constexpr double epsilon = 1e-3;

class BatchNorm : public testing::TestWithParam<std::pair<int, int>> {
 protected:
  const int channels = GetParam().first, pixels = GetParam().second;
  const Halide::Buffer<double> x = random_buffer<double>({channels, pixels}, 1),
                               mean = random_buffer<double>({channels}, 2),
                               variance = random_buffer<double>({channels}, 3, 0.5, 2),
                               scale = random_buffer<double>({channels}, 4),
                               shift = random_buffer<double>({channels}, 5);
};

// The whole layer in training: the statistics are of x.
Value trained(const Values &in) {
  return algorithms::batch_norm(in[0], algorithms::statistics(in[0]), in[1], in[2], epsilon);
}

Values gradient(const Values &in, const algorithms::Statistics &of, const Value &dy, StatisticsOf whose) {
  const auto g = algorithms::batch_norm_gradient(in[0], of, in[1], dy, epsilon, whose);
  return {g.x, g.scale, g.shift};
}

TEST_P(BatchNorm, StatisticsAreThoseOfALoop) {
  const auto got = results_of(
      [](const Values &in) {
        const algorithms::Statistics s = algorithms::statistics(in[0]);
        return Values{s.mean, s.variance};
      },
      {x});
  const Halide::Buffer<double> got_mean = got[0], got_variance = got[1];
  for (int c = 0; c < channels; ++c) {
    double sum = 0, squares = 0;
    for (int p = 0; p < pixels; ++p) sum += x(c, p);
    for (int p = 0; p < pixels; ++p) squares += std::pow(x(c, p) - sum / pixels, 2);
    EXPECT_NEAR(got_mean(c), sum / pixels, 1e-14);
    EXPECT_NEAR(got_variance(c), squares / pixels, 1e-14);
  }
}

TEST_P(BatchNorm, ForwardIsThatOfALoop) {
  const auto y = result_of<double>(
      [](const Values &in) {
        return algorithms::batch_norm(in[0], {in[1], in[2]}, in[3], in[4], epsilon);
      },
      {x, mean, variance, scale, shift});
  for (int p = 0; p < pixels; ++p)
    for (int c = 0; c < channels; ++c)
      EXPECT_NEAR(y(c, p), (x(c, p) - mean(c)) / std::sqrt(variance(c) + epsilon) * scale(c) + shift(c), 1e-13);
}

TEST_P(BatchNorm, TrainingGradientsAreTheDerivedOnesAndMatchFiniteDifferences) {
  expect_gradients(trained, {x, scale, shift}, [](const Values &in, const Value &dy) {
    return gradient(in, algorithms::statistics(in[0]), dy, StatisticsOf::x);
  });
}

TEST_P(BatchNorm, InferenceGradientsAreTheDerivedOnesAndMatchFiniteDifferences) {
  expect_gradients(
      [](const Values &in) {
        return algorithms::batch_norm(in[0], {in[3], in[4]}, in[1], in[2], epsilon);
      },
      {x, scale, shift, mean, variance},
      [](const Values &in, const Value &dy) {
        return gradient(in, {in[3], in[4]}, dy, StatisticsOf::others);
      });
}

INSTANTIATE_TEST_SUITE_P(Sizes, BatchNorm, testing::Values(std::pair{1, 1}, std::pair{1, 13}, std::pair{5, 7}));

TEST(BatchNormStatistics, VarianceKeepsItsDigitsFarFromZero) {
  // Deviations of +-1 about 10000, in f32: the mean of squares less the square of the mean would be off by whole units.
  Halide::Buffer<float> x(1, 1000);
  x.for_each_element([&](int c, int p) { x(c, p) = 10000.0f + (p % 2 == 0 ? 1.0f : -1.0f); });
  const auto variance = result_of<float>([](const Values &in) { return algorithms::statistics(in[0]).variance; }, {x});
  EXPECT_NEAR(variance(0), 1.0f, 1e-3f);
}

}  // namespace
}  // namespace saltern
