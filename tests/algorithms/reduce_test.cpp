// Reductions over the middle axis, against naive loops, and their gradients.

#include <gtest/gtest.h>

#include "algorithms/reductions.h"
#include "tests/values.h"

namespace saltern {
namespace {

using algorithms::over_middle;
using formula::Expression;
using formula::Function;
using formula::Value;
using formula::Values;
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
  const auto got = results_of(
      [](const Values &in) {
        return Values{over_middle(Function::sum, in[0]) * 0.25, over_middle(Function::product, in[0])};
      },
      {x});
  EXPECT_LE(relative_difference<double>(got[0], total), 1e-12);
  EXPECT_LE(relative_difference<double>(got[1], product), 1e-12);
}

TEST_P(Reduce, MaximumAndMinimumAreTheFirstOfALoop) {
  // Few different values, so that there are ties.
  Buffer<double> coarse(a, r, b);
  coarse.for_each_element([&](int i, int k, int j) { coarse(i, k, j) = std::floor(3 * x(i, k, j)); });
  Buffer<double> largest(a, b), smallest(a, b);
  Buffer<int64_t> largest_at(a, b), smallest_at(a, b);
  largest.for_each_element([&](int i, int j) {
    int most = 0, least = 0;
    for (int k = 0; k < r; ++k) {
      if (coarse(i, k, j) > coarse(i, most, j)) most = k;
      if (coarse(i, k, j) < coarse(i, least, j)) least = k;
    }
    largest_at(i, j) = most;
    smallest_at(i, j) = least;
    largest(i, j) = coarse(i, most, j);
    smallest(i, j) = coarse(i, least, j);
  });
  const auto got = results_of(
      [](const Values &in) {
        Values all;
        for (Function f : {Function::greatest, Function::first_greatest, Function::least, Function::first_least})
          all.push_back(over_middle(f, in[0]));
        return all;
      },
      {coarse});
  EXPECT_EQ(relative_difference<double>(got[0], largest), 0);
  EXPECT_EQ(relative_difference<int64_t>(got[1], largest_at), 0);
  EXPECT_EQ(relative_difference<double>(got[2], smallest), 0);
  EXPECT_EQ(relative_difference<int64_t>(got[3], smallest_at), 0);
}

TEST_P(Reduce, GradientsOfTheBestAreAtTheirPlaces) {
  const std::pair<Function, Function> best_and_place[] = {{Function::greatest, Function::first_greatest},
                                                          {Function::least, Function::first_least}};
  for (const auto &[best, place] : best_and_place)
    expect_gradients([f = best](const Values &in) { return over_middle(f, in[0]); }, {x},
                     [f = place](const Values &in, const Value &dy) {
                       return Values{algorithms::at_its_place(over_middle(f, in[0]), dy, in[0].extent(1))};
                     });
}

TEST_P(Reduce, GradientOfASumIsBroadcast) {
  expect_gradients(
      [](const Values &in) { return over_middle(Function::sum, in[0]); }, {x},
      [](const Values &in, const Value &dy) {
        return Values{compute("broadcast", in[0].extents(), [&](const formula::Axes &at) { return dy(at[0], at[2]); })};
      });
}

TEST_P(Reduce, GradientOfAProductMatchesFiniteDifferences) {
  expect_gradients([](const Values &in) { return over_middle(Function::product, in[0]); }, {x});
}

INSTANTIATE_TEST_SUITE_P(Sizes, Reduce,
                         testing::Values(std::vector<int>{1, 1, 1}, std::vector<int>{7, 5, 3},
                                         std::vector<int>{1, 17, 2}));

}  // namespace
}  // namespace saltern
