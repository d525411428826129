#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/probabilities.h"
#include "tests/values.h"

namespace saltern {
namespace {

using formula::Expression;
using formula::Value;
using formula::Values;

Value cross_entropy(const Values &in) { return algorithms::cross_entropy(in[0], in[1]); }

class CrossEntropy : public testing::TestWithParam<std::pair<int, int>> {
 protected:
  const int classes = GetParam().first, rows = GetParam().second;
  const Halide::Buffer<double> x = random_buffer<double>({classes, rows}, 1, -3, 3);
  // Past both ends: labels that name no class.
  const Halide::Buffer<int> labels = random_buffer<int>({rows}, 2, -1, classes + 1);
};

TEST_P(CrossEntropy, IsThatOfALoop) {
  const auto loss = result_of<double>(cross_entropy, {x, labels});
  for (int n = 0; n < rows; ++n) {
    double sum = 0;
    for (int c = 0; c < classes; ++c) sum += std::exp(x(c, n));
    const bool known = labels(n) >= 0 && labels(n) < classes;
    EXPECT_NEAR(loss(n), known ? std::log(sum) - x(labels(n), n) : 0, 1e-13) << "label " << labels(n);
  }
}

// The one that is written down beside the derived one: of the loss itself, and of the loss without the maximum.
TEST_P(CrossEntropy, GradientIsTheDerivedOneAndMatchesFiniteDifferences) {
  const auto written = [](const Values &in, const Value &dloss) {
    return Values{algorithms::cross_entropy_gradient(in[0], in[1], dloss)};
  };
  expect_gradients(cross_entropy, {x, labels}, written);
  const auto plain = [](const Values &in) {
    const Value logarithm = log(sum(exp(in[0]), {1}));
    return formula::compute("plain_cross_entropy", {in[0].extent(0)}, [&](Expression n) {
      const Expression label = cast(Type::i64, in[1](n));
      return select(0 <= label && label < in[0].extent(1), logarithm(n, 0) - in[0](n, label),
                    formula::constant(Type::f64, 0));
    });
  };
  expect_gradients(plain, {x, labels}, written);
}

INSTANTIATE_TEST_SUITE_P(Sizes, CrossEntropy,
                         testing::Values(std::pair{1, 1}, std::pair{2, 9}, std::pair{10, 7}, std::pair{17, 5}));

TEST(CrossEntropyOfExtremes, OfACertainAnswerIsNearZeroAndOfAWrongOneFinite) {
  const auto loss = result_of<float>(
      cross_entropy, {buffer_with<float>({2, 2}, {500, -500, 500, -500}), buffer_with<int>({2}, {0, 1})});
  EXPECT_NEAR(loss(0), 0.0f, 1e-6f);
  EXPECT_NEAR(loss(1), 1000.0f, 1e-3f);
}

}  // namespace
}  // namespace saltern
