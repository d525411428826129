// Products beside loops and finite differences.

#include "algorithms/contraction.h"

#include <gtest/gtest.h>

#include "tests/values.h"

namespace saltern {
namespace {

using formula::Value;
using formula::Values;
using Halide::Buffer;

struct Size {
  int m, n, k, batch;
};

class Product : public testing::TestWithParam<Size> {
 protected:
  const Size s = GetParam();
};

TEST_P(Product, OfMatricesIsThatOfALoop) {
  const auto a = random_buffer<double>({s.k, s.m, s.batch}, 1), b = random_buffer<double>({s.n, s.k, s.batch}, 2);
  const auto matmul = [](const Values &in) { return algorithms::matmul(in[0], in[1]); };
  Buffer<double> want(s.n, s.m, s.batch);
  want.for_each_element([&](int n, int m, int batch) {
    want(n, m, batch) = 0;
    for (int k = 0; k < s.k; ++k) want(n, m, batch) += a(k, m, batch) * b(n, k, batch);
  });
  EXPECT_LE(relative_difference(result_of<double>(matmul, {a, b}), want), 1e-12);
  expect_gradients(matmul, {a, b});
}

TEST_P(Product, OfADenseLayerIsThatOfALoop) {
  const auto x = random_buffer<double>({s.k, s.m}, 1), w = random_buffer<double>({s.k, s.n}, 2);
  const auto dense = [](const Values &in) { return algorithms::dense(in[0], in[1]); };
  Buffer<double> want(s.n, s.m);
  want.for_each_element([&](int o, int n) {
    want(o, n) = 0;
    for (int i = 0; i < s.k; ++i) want(o, n) += w(i, o) * x(i, n);
  });
  EXPECT_LE(relative_difference(result_of<double>(dense, {x, w}), want), 1e-12);
  expect_gradients(dense, {x, w});
}

INSTANTIATE_TEST_SUITE_P(Sizes, Product,
                         testing::Values(Size{1, 1, 1, 1}, Size{3, 5, 7, 2}, Size{1, 17, 9, 1}, Size{11, 1, 2, 3}));

}  // namespace
}  // namespace saltern
