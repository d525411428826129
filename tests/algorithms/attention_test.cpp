#include "algorithms/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dsl/sums.h"
#include "tests/values.h"

namespace saltern {
namespace {

using formula::Value;

// Queries, size, keys, columns; two heads.
class Attention : public testing::TestWithParam<std::array<int, 4>> {};

// As it is written, and with what all steps of its sums share taken out of them.
TEST_P(Attention, IsThatOfALoop) {
  const auto [rows, size, keys, columns] = GetParam();
  constexpr int heads = 2;
  const auto query = random_buffer<double>({size, rows, heads}, 1), key = random_buffer<double>({keys, size, heads}, 2),
             value = random_buffer<double>({columns, keys, heads}, 3), mask = random_buffer<double>({keys, rows}, 4);
  const std::vector<Tensor> given = tensors_of({query, key, value, mask});
  const formula::Values in = inputs_like(given);
  const Value y =
      algorithms::attention(in[0], in[1], in[2], [&](const Value &product) { return product * 0.5 + in[3]; });
  formula::Values both = {y};
  if (keys > 1) {
    const auto [share, sum] = formula::factored(y);
    both.push_back(sum * share);
  }
  const std::vector<Tensor> got = evaluate(formula::exact_formulas(in, both), given);
  for (int h = 0; h < heads; ++h)
    for (int l = 0; l < rows; ++l) {
      std::vector<double> weight(static_cast<size_t>(keys));
      double total = 0;
      for (int s = 0; s < keys; ++s) {
        double product = 0;
        for (int e = 0; e < size; ++e) product += query(e, l, h) * key(s, e, h);
        total += weight[static_cast<size_t>(s)] = std::exp(product * 0.5 + mask(s, l));
      }
      for (int f = 0; f < columns; ++f) {
        double want = 0;
        for (int s = 0; s < keys; ++s) want += weight[static_cast<size_t>(s)] / total * value(f, s, h);
        for (const Tensor &t : got) EXPECT_NEAR(t.at<double>({h, l, f}), want, 1e-13) << f << ", " << l << ", " << h;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Attention,
                         testing::Values(std::array{1, 1, 1, 1}, std::array{3, 4, 5, 2}, std::array{2, 7, 17, 9}));

// What is divided by once a row is no factor of a step any more: the sum is one of powers and values, and of nothing else.
TEST(FactoredSum, LeavesTheSharesOfASoftmaxOutside) {
  const Value x = formula::input("x", {3, 5}), v = formula::input("v", {5, 4});
  const auto [share, sum] = formula::factored(algorithms::matmul(algorithms::softmax(x, 1), v));
  const algorithms::Powers p = algorithms::powers(x, 1);
  EXPECT_EQ(sum.get(), algorithms::matmul(p.power, v).get());
  EXPECT_EQ(formula::loaded_by(*share.get()), std::vector{algorithms::share(p).shared()});
}

TEST(FactoredSum, OfWhatAllDependsOnStepsIsTheSumItself) {
  const Value a = formula::input("a", {3, 5}), b = formula::input("b", {5, 4}), y = algorithms::matmul(a, b);
  const auto [one, sum] = formula::factored(y);
  EXPECT_EQ(sum.get(), y.get());
  EXPECT_TRUE(formula::is_number(one->element, 1));
  EXPECT_THROW(formula::factored(a), std::invalid_argument);
}

}  // namespace
}  // namespace saltern
