#include "algorithms/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/gradients.h"

namespace saltern {
namespace {

using dsl::Tensor;

class CrossEntropy : public testing::TestWithParam<std::pair<int, int>> {
 protected:
  const int classes = GetParam().first, rows = GetParam().second;
  const Halide::Buffer<double> x = random_buffer<double>({classes, rows}, 1, -3, 3);
  // Past both ends: labels that name no class.
  const Halide::Buffer<int> labels = random_buffer<int>({rows}, 2, -1, classes + 1);
};

TEST_P(CrossEntropy, IsThatOfALoop) {
  const auto loss = evaluate<double>(algorithms::cross_entropy(Tensor(x), Tensor(labels)).loss);
  for (int n = 0; n < rows; ++n) {
    double sum = 0;
    for (int c = 0; c < classes; ++c) sum += std::exp(x(c, n));
    const bool known = labels(n) >= 0 && labels(n) < classes;
    EXPECT_NEAR(loss(n), known ? std::log(sum) - x(labels(n), n) : 0, 1e-13) << "label " << labels(n);
  }
}

TEST_P(CrossEntropy, GradientMatchesFiniteDifferences) {
  const Tensor l(labels);
  check_gradient(
      {x}, [&](const Tensors &in) { return algorithms::cross_entropy(in[0], l).loss; },
      {{0,
        [&](const Tensors &in, const Tensor &dloss) { return algorithms::cross_entropy_gradient(in[0], l, dloss).x; }}},
      Adjoint::no);
}

// The same function without the maximum, which Halide can derive.
TEST_P(CrossEntropy, GradientIsTheAutomaticOne) {
  const Tensor l(labels);
  const auto plain = [&](const Tensors &in) {
    Halide::Var n;
    Halide::RDom r(0, in[0].extent(0));
    Halide::Func total("total"), loss("plain_cross_entropy");
    total(n) = Halide::cast<double>(0);
    total(n) += Halide::exp(in[0](r, n));
    const Halide::Expr known = l(n) >= 0 && l(n) < classes;
    loss(n) = Halide::select(known, Halide::log(total(n)) - in[0](Halide::clamp(l(n), 0, classes - 1), n),
                             Halide::cast<double>(0));
    return Tensor(loss, {in[0].extent(1)});
  };
  check_gradient({x}, plain, {{0, [&](const Tensors &in, const Tensor &dloss) {
                                 return algorithms::cross_entropy_gradient(in[0], l, dloss).x;
                               }}});
}

INSTANTIATE_TEST_SUITE_P(Sizes, CrossEntropy,
                         testing::Values(std::pair{1, 1}, std::pair{2, 9}, std::pair{10, 7}, std::pair{17, 5}));

TEST(CrossEntropyOfExtremes, OfACertainAnswerIsNearZeroAndOfAWrongOneFinite) {
  Halide::Buffer<float> x(2, 2);
  x.for_each_element([&](int c, int) { x(c, 0) = x(c, 1) = c == 0 ? 500.0f : -500.0f; });
  Halide::Buffer<int> labels(2);
  labels(0) = 0, labels(1) = 1;
  const auto loss = evaluate<float>(algorithms::cross_entropy(Tensor(x), Tensor(labels)).loss);
  EXPECT_NEAR(loss(0), 0.0f, 1e-6f);
  EXPECT_NEAR(loss(1), 1000.0f, 1e-3f);
}

}  // namespace
}  // namespace saltern
