#include "algorithms/softmax.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/gradients.h"

namespace saltern {
namespace {

using dsl::Tensor;

class Softmax : public testing::TestWithParam<std::pair<int, int>> {
 protected:
  const int classes = GetParam().first, rows = GetParam().second;
  const Halide::Buffer<double> x = random_buffer<double>({classes, rows}, 1, -3, 3);
};

TEST_P(Softmax, IsThatOfALoopAndItsLogarithm) {
  const auto y = evaluate<double>(algorithms::softmax(Tensor(x)).y);
  const auto log_y = evaluate<double>(algorithms::log_softmax(Tensor(x)).y);
  for (int n = 0; n < rows; ++n) {
    double sum = 0;
    for (int c = 0; c < classes; ++c) sum += std::exp(x(c, n));
    for (int c = 0; c < classes; ++c) {
      EXPECT_NEAR(y(c, n), std::exp(x(c, n)) / sum, 1e-14);
      EXPECT_NEAR(log_y(c, n), x(c, n) - std::log(sum), 1e-13);
    }
  }
}

// Halide cannot derive a maximum.
TEST_P(Softmax, GradientMatchesFiniteDifferences) {
  check_gradient(
      {x}, [](const Tensors &in) { return algorithms::softmax(in[0]).y; },
      {{0, [](const Tensors &in,
              const Tensor &dy) { return algorithms::softmax_gradient(algorithms::softmax(in[0]).y, dy).x; }}},
      Adjoint::no);
}

TEST_P(Softmax, GradientOfTheLogarithmMatchesFiniteDifferences) {
  check_gradient(
      {x}, [](const Tensors &in) { return algorithms::log_softmax(in[0]).y; },
      {{0, [](const Tensors &in,
              const Tensor &dy) { return algorithms::log_softmax_gradient(algorithms::log_softmax(in[0]).y, dy).x; }}},
      Adjoint::no);
}

// The same function without the maximum, which Halide can derive.
TEST_P(Softmax, GradientsAreTheAutomaticOnes) {
  const auto total = [](const Tensor &in) {
    Halide::Var n;
    Halide::RDom r(0, in.extent(0));
    Halide::Func f("total");
    f(n) = Halide::cast<double>(0);
    f(n) += Halide::exp(in(r, n));
    return f;
  };
  Halide::Var c, n;
  check_gradient({x},
                 [&](const Tensors &in) {
                   Halide::Func y("plain_softmax");
                   y(c, n) = Halide::exp(in[0](c, n)) / total(in[0])(n);
                   return Tensor(y, in[0].extents());
                 },
                 {{0, [](const Tensors &in, const Tensor &dy) {
                     return algorithms::softmax_gradient(algorithms::softmax(in[0]).y, dy).x;
                   }}});
  check_gradient({x},
                 [&](const Tensors &in) {
                   Halide::Func y("plain_log_softmax");
                   y(c, n) = in[0](c, n) - Halide::log(total(in[0])(n));
                   return Tensor(y, in[0].extents());
                 },
                 {{0, [](const Tensors &in, const Tensor &dy) {
                     return algorithms::log_softmax_gradient(algorithms::log_softmax(in[0]).y, dy).x;
                   }}});
}

INSTANTIATE_TEST_SUITE_P(Sizes, Softmax,
                         testing::Values(std::pair{1, 1}, std::pair{2, 1}, std::pair{10, 3}, std::pair{17, 2}));

TEST(SoftmaxOfExtremes, NeitherOverflowsNorLosesARowToMinusInfinity) {
  Halide::Buffer<float> x(3, 2);
  const float values[2][3] = {{1000, 1000, -1000}, {-INFINITY, 0, -INFINITY}};
  x.for_each_element([&](int c, int n) { x(c, n) = values[n][c]; });
  const auto y = evaluate<float>(algorithms::softmax(Tensor(x)).y);
  const float want[2][3] = {{0.5f, 0.5f, 0}, {0, 1, 0}};
  for (int n = 0; n < 2; ++n)
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(y(c, n), want[n][c], 1e-6f) << c << ", " << n;
}

TEST(SoftmaxOfExtremes, ARowWithNaNOrInfinityIsNaN) {
  Halide::Buffer<float> x(3, 4);
  const float values[4][3] = {{1, NAN, 2}, {INFINITY, 1, 2}, {-INFINITY, -INFINITY, -INFINITY}, {NAN, NAN, NAN}};
  x.for_each_element([&](int c, int n) { x(c, n) = values[n][c]; });
  const auto y = evaluate<float>(algorithms::softmax(Tensor(x)).y),
             z = evaluate<float>(algorithms::log_softmax(Tensor(x)).y);
  for (int n = 0; n < 4; ++n)
    for (int c = 0; c < 3; ++c) EXPECT_TRUE(std::isnan(y(c, n)) && std::isnan(z(c, n))) << c << ", " << n;
}

TEST(SoftmaxOfExtremes, TheLogarithmOfLargeNumbersIsNotLost) {
  Halide::Buffer<float> x(2, 1);
  x.fill(3e38f);
  const auto y = evaluate<float>(algorithms::log_softmax(Tensor(x)).y);
  for (int c = 0; c < 2; ++c) EXPECT_NEAR(y(c, 0), -std::log(2.0), 1e-6);
}

}  // namespace
}  // namespace saltern
