#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/probabilities.h"
#include "tests/values.h"

namespace saltern {
namespace {

using formula::Value;
using formula::Values;

Value softmax(const Values &in) { return algorithms::softmax(in[0], 1); }
Value log_softmax(const Values &in) { return algorithms::log_softmax(in[0], 1); }

class Softmax : public testing::TestWithParam<std::pair<int, int>> {
 protected:
  const int classes = GetParam().first, rows = GetParam().second;
  const Halide::Buffer<double> x = random_buffer<double>({classes, rows}, 1, -3, 3);
};

TEST_P(Softmax, IsThatOfALoopAndItsLogarithm) {
  const auto y = result_of<double>(softmax, {x}), log_y = result_of<double>(log_softmax, {x});
  for (int n = 0; n < rows; ++n) {
    double sum = 0;
    for (int c = 0; c < classes; ++c) sum += std::exp(x(c, n));
    for (int c = 0; c < classes; ++c) {
      EXPECT_NEAR(y(c, n), std::exp(x(c, n)) / sum, 1e-14);
      EXPECT_NEAR(log_y(c, n), x(c, n) - std::log(sum), 1e-13);
    }
  }
}

TEST_P(Softmax, GradientsMatchFiniteDifferences) {
  expect_gradients(softmax, {x});
  expect_gradients(log_softmax, {x});
}

// Of the same functions without the maximum and without a rule of their own.
TEST_P(Softmax, GradientsFromTheResultAreTheDerivedOnes) {
  expect_gradients(
      [](const Values &in) { return exp(in[0]) / sum(exp(in[0]), {1}); }, {x},
      [](const Values &in, const Value &dy) { return Values{algorithms::softmax_gradient(softmax(in), dy, 1)}; });
  expect_gradients([](const Values &in) { return in[0] - log(sum(exp(in[0]), {1})); }, {x},
                   [](const Values &in, const Value &dy) {
                     return Values{algorithms::log_softmax_gradient(log_softmax(in), dy, 1)};
                   });
}

INSTANTIATE_TEST_SUITE_P(Sizes, Softmax,
                         testing::Values(std::pair{1, 1}, std::pair{2, 1}, std::pair{10, 3}, std::pair{17, 2}));

TEST(SoftmaxOfExtremes, NeitherOverflowsNorLosesARowToMinusInfinity) {
  const auto x = buffer_with<float>({3, 2}, {1000, 1000, -1000, -INFINITY, 0, -INFINITY});
  const auto y = result_of<float>(softmax, {x}), want = buffer_with<float>({3, 2}, {0.5f, 0.5f, 0, 0, 1, 0});
  want.for_each_element([&](int c, int n) { EXPECT_NEAR(y(c, n), want(c, n), 1e-6f) << c << ", " << n; });
}

TEST(SoftmaxOfExtremes, ARowWithNaNOrInfinityIsNaN) {
  const auto x =
      buffer_with<float>({3, 4}, {1, NAN, 2, INFINITY, 1, 2, -INFINITY, -INFINITY, -INFINITY, NAN, NAN, NAN});
  const auto y = result_of<float>(softmax, {x}), z = result_of<float>(log_softmax, {x});
  x.for_each_element([&](int c, int n) { EXPECT_TRUE(std::isnan(y(c, n)) && std::isnan(z(c, n))) << c << ", " << n; });
}

TEST(SoftmaxOfExtremes, TheLogarithmOfLargeNumbersIsNotLost) {
  const auto y = result_of<float>(log_softmax, {buffer_with<float>({2, 1}, {3e38f, 3e38f})});
  for (int c = 0; c < 2; ++c) EXPECT_NEAR(y(c, 0), -std::log(2.0), 1e-6);
}

}  // namespace
}  // namespace saltern
