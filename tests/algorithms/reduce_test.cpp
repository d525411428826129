// Reductions over the middle dimension, against naive loops, and their gradients.

#include "algorithms/reduce.h"

#include <gtest/gtest.h>

#include "dsl/component.h"
#include "tests/gradients.h"

namespace saltern {
namespace {

using dsl::Tensor;
using Halide::Buffer;

class Reduce : public testing::TestWithParam<std::vector<int>> {
 protected:
  const int a = GetParam()[0], r = GetParam()[1], b = GetParam()[2];
  const Buffer<double> x = random_buffer<double>({a, r, b}, 1);
};

TEST_P(Reduce, SumAndProductAreThoseOfALoop) {
  Buffer<double> total(a, b), product(a, b);
  total.for_each_element([&](int i, int j) {
    total(i, j) = 0;
    product(i, j) = 1;
    for (int k = 0; k < r; ++k) total(i, j) += 0.25 * x(i, k, j), product(i, j) *= x(i, k, j);
  });
  const Tensor scaled = algorithms::scaled(algorithms::sum(Tensor(x)), Halide::Expr(0.25));
  EXPECT_LE(relative_difference(evaluate<double>(scaled), total), 1e-12);
  EXPECT_LE(relative_difference(evaluate<double>(algorithms::product_over(Tensor(x))), product), 1e-12);
}

TEST_P(Reduce, MaximumAndMinimumAreTheFirstOfALoop) {
  // Few different values, so that there are ties.
  Buffer<double> coarse(a, r, b);
  coarse.for_each_element([&](int i, int k, int j) { coarse(i, k, j) = std::floor(3 * x(i, k, j)); });
  Buffer<double> largest(a, b), smallest(a, b);
  Buffer<int> largest_at(a, b), smallest_at(a, b);
  largest.for_each_element([&](int i, int j) {
    largest_at(i, j) = smallest_at(i, j) = 0;
    for (int k = 0; k < r; ++k) {
      if (coarse(i, k, j) > coarse(i, largest_at(i, j), j)) largest_at(i, j) = k;
      if (coarse(i, k, j) < coarse(i, smallest_at(i, j), j)) smallest_at(i, j) = k;
    }
    largest(i, j) = coarse(i, largest_at(i, j), j);
    smallest(i, j) = coarse(i, smallest_at(i, j), j);
  });
  const Tensor maximum = algorithms::maximum_over(Tensor(coarse)), minimum = algorithms::minimum_over(Tensor(coarse));
  EXPECT_EQ(relative_difference(evaluate<double>(dsl::component(maximum, 0)), largest), 0);
  EXPECT_EQ(relative_difference(evaluate<int>(dsl::component(maximum, 1)), largest_at), 0);
  EXPECT_EQ(relative_difference(evaluate<double>(dsl::component(minimum, 0)), smallest), 0);
  EXPECT_EQ(relative_difference(evaluate<int>(dsl::component(minimum, 1)), smallest_at), 0);
}

TEST_P(Reduce, GradientsMatchFiniteDifferences) {
  const auto gradient_by = [](Tensor (*reduce)(const Tensor &)) {
    return [reduce](const Tensors &in, const Tensor &dy) {
      return algorithms::maximum_over_gradient(dsl::component(reduce(in[0]), 1), dy, in[0].extent(1));
    };
  };
  check_gradient(
      {x}, [](const Tensors &in) { return dsl::component(algorithms::maximum_over(in[0]), 0); },
      {{0, gradient_by(algorithms::maximum_over)}}, Adjoint::no);
  check_gradient(
      {x}, [](const Tensors &in) { return dsl::component(algorithms::minimum_over(in[0]), 0); },
      {{0, gradient_by(algorithms::minimum_over)}}, Adjoint::no);
}

TEST_P(Reduce, GradientOfASumIsBroadcast) {
  check_gradient({x}, [](const Tensors &in) { return algorithms::sum(in[0]); },
                 {{0, [](const Tensors &in, const Tensor &dy) {
                     Halide::Var i("i"), k("k"), j("j");
                     Halide::Func dx("broadcast");
                     dx(i, k, j) = dy(i, j);
                     return Tensor(dx, in[0].extents());
                   }}});
}

INSTANTIATE_TEST_SUITE_P(Sizes, Reduce,
                         testing::Values(std::vector<int>{1, 1, 1}, std::vector<int>{7, 5, 3},
                                         std::vector<int>{1, 17, 2}));

}  // namespace
}  // namespace saltern
