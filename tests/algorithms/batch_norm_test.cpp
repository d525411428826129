#include "algorithms/batch_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/gradients.h"

namespace saltern {
namespace {

using dsl::Tensor;

constexpr double epsilon_value = 1e-3;
const Halide::Expr epsilon(epsilon_value);

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
Tensor trained(const Tensor &x, const Tensor &scale, const Tensor &shift) {
  const auto s = algorithms::batch_norm_statistics(x);
  return algorithms::batch_norm(x, s.mean, algorithms::batch_norm_factor(s.variance, scale, epsilon), shift);
}

algorithms::BatchNormGradient trained_gradient(const Tensor &x, const Tensor &scale, const Tensor &dy) {
  const auto s = algorithms::batch_norm_statistics(x);
  return algorithms::batch_norm_gradient(x, s.mean, s.variance, scale, dy, epsilon, algorithms::Statistics::of_x);
}

TEST_P(BatchNorm, StatisticsAreThoseOfALoop) {
  const auto s = algorithms::batch_norm_statistics(Tensor(x));
  const auto got_mean = evaluate<double>(s.mean), got_variance = evaluate<double>(s.variance);
  for (int c = 0; c < channels; ++c) {
    double sum = 0, squares = 0;
    for (int p = 0; p < pixels; ++p) sum += x(c, p);
    for (int p = 0; p < pixels; ++p) squares += std::pow(x(c, p) - sum / pixels, 2);
    EXPECT_NEAR(got_mean(c), sum / pixels, 1e-14);
    EXPECT_NEAR(got_variance(c), squares / pixels, 1e-14);
  }
}

TEST_P(BatchNorm, ForwardIsThatOfALoop) {
  const Tensor factor = algorithms::batch_norm_factor(Tensor(variance), Tensor(scale), epsilon);
  const auto y = evaluate<double>(algorithms::batch_norm(Tensor(x), Tensor(mean), factor, Tensor(shift)));
  for (int p = 0; p < pixels; ++p)
    for (int c = 0; c < channels; ++c)
      EXPECT_NEAR(y(c, p), (x(c, p) - mean(c)) / std::sqrt(variance(c) + epsilon_value) * scale(c) + shift(c), 1e-13);
}

TEST_P(BatchNorm, TrainingGradientsAreTheAutomaticOnesAndMatchFiniteDifferences) {
  check_gradient({x, scale, shift}, [](const Tensors &in) { return trained(in[0], in[1], in[2]); },
                 {{0, [](const Tensors &in, const Tensor &dy) { return trained_gradient(in[0], in[1], dy).x; }},
                  {1, [](const Tensors &in, const Tensor &dy) { return trained_gradient(in[0], in[1], dy).scale; }},
                  {2, [](const Tensors &in, const Tensor &dy) { return trained_gradient(in[0], in[1], dy).shift; }}});
}

TEST_P(BatchNorm, InferenceGradientsAreTheAutomaticOnesAndMatchFiniteDifferences) {
  const Tensor m(mean), v(variance);
  const auto gradient = [&](const Tensors &in, const Tensor &dy) {
    return algorithms::batch_norm_gradient(in[0], m, v, in[1], dy, epsilon, algorithms::Statistics::constant);
  };
  check_gradient({x, scale, shift},
                 [&](const Tensors &in) {
                   return algorithms::batch_norm(in[0], m, algorithms::batch_norm_factor(v, in[1], epsilon), in[2]);
                 },
                 {{0, [&](const Tensors &in, const Tensor &dy) { return gradient(in, dy).x; }},
                  {1, [&](const Tensors &in, const Tensor &dy) { return gradient(in, dy).scale; }},
                  {2, [&](const Tensors &in, const Tensor &dy) { return gradient(in, dy).shift; }}});
}

INSTANTIATE_TEST_SUITE_P(Sizes, BatchNorm, testing::Values(std::pair{1, 1}, std::pair{1, 13}, std::pair{5, 7}));

TEST(BatchNormStatistics, VarianceKeepsItsDigitsFarFromZero) {
  // Deviations of +-1 about 10000, in f32: the mean of squares less the square of the mean would be off by whole units.
  Halide::Buffer<float> x(1, 1000);
  x.for_each_element([&](int c, int p) { x(c, p) = 10000.0f + (p % 2 == 0 ? 1.0f : -1.0f); });
  EXPECT_NEAR(evaluate<float>(algorithms::batch_norm_statistics(Tensor(x)).variance)(0), 1.0f, 1e-3f);
}

}  // namespace
}  // namespace saltern
