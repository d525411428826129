#include "schedules/forms/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/contraction.h"
#include "algorithms/probabilities.h"
#include "tests/evaluate.h"
#include "tests/random_buffer.h"
#include "tests/values.h"

namespace saltern {
namespace {

// Queries, size, keys, columns; two heads.
class Attention : public testing::TestWithParam<std::array<int, 4>> {};

TEST_P(Attention, IsThatOfALoopAndOfItsFormula) {
  const auto [rows, size, keys, columns] = GetParam();
  constexpr int heads = 2;
  const auto query = random_buffer<double>({size, rows, heads}, 1), key = random_buffer<double>({keys, size, heads}, 2),
             value = random_buffer<double>({columns, keys, heads}, 3), mask = random_buffer<double>({keys, rows}, 4);
  const forms::Tensor bias(mask);
  const auto y =
      evaluate<double>(forms::attention(forms::Tensor(query), forms::Tensor(key), forms::Tensor(value),
                                        [&](const Halide::Expr &product, const std::vector<Halide::Var> &at) {
                                          return product * Halide::Expr(0.5) + bias(at[0], at[1]);
                                        })
                           .y);
  // The interpreter's, of its formula.
  const std::vector<Tensor> given = tensors_of({query, key, value, mask});
  const formula::Values in = inputs_like(given);
  const formula::Value formula =
      algorithms::matmul(algorithms::softmax(algorithms::matmul(in[0], in[1]) * 0.5 + in[3], 2), in[2]);
  const Tensor interpreted = evaluate(formula::exact_formulas(in, {formula}), given)[0];
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
        EXPECT_NEAR(y(f, l, h), want, 1e-13) << f << ", " << l << ", " << h;
        EXPECT_NEAR(interpreted.at<double>({h, l, f}), want, 1e-13) << f << ", " << l << ", " << h;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Attention,
                         testing::Values(std::array{1, 1, 1, 1}, std::array{3, 4, 5, 2}, std::array{2, 7, 17, 9}));

}  // namespace
}  // namespace saltern
