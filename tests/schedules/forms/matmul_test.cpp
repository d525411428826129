// The batched matrix product, against naive loops, automatic adjoints and finite differences.

#include "schedules/forms/matmul.h"

#include <gtest/gtest.h>

#include "tests/gradients.h"

namespace saltern {
namespace {

using forms::Tensor;
using Halide::Buffer;

// t with its first two dimensions exchanged.
Tensor transposed(const Tensor &t) {
  Halide::Var i, j, batch;
  Halide::Func f;
  f(i, j, batch) = t(j, i, batch);
  return {f, {t.extent(1), t.extent(0), t.extent(2)}};
}

struct Size {
  int m, n, k, batch;
};

class Matmul : public testing::TestWithParam<Size> {
 protected:
  const Size s = GetParam();
  const Buffer<double> a = random_buffer<double>({s.k, s.m, s.batch}, 1),
                       b = random_buffer<double>({s.n, s.k, s.batch}, 2);
};

TEST_P(Matmul, IsTheSumOfProducts) {
  const auto got = evaluate<double>(forms::matmul(Tensor(a), Tensor(b)));
  Buffer<double> want(s.n, s.m, s.batch);
  want.for_each_element([&](int n, int m, int batch) {
    want(n, m, batch) = 0;
    for (int k = 0; k < s.k; ++k) want(n, m, batch) += a(k, m, batch) * b(n, k, batch);
  });
  EXPECT_LE(relative_difference(got, want), 1e-12);
}

TEST_P(Matmul, GradientsAreProductsOfTransposes) {
  check_gradient({a, b}, [](const Tensors &in) { return forms::matmul(in[0], in[1]); },
                 {{0, [](const Tensors &in, const Tensor &dy) { return forms::matmul(dy, transposed(in[1])); }},
                  {1, [](const Tensors &in, const Tensor &dy) { return forms::matmul(transposed(in[0]), dy); }}});
}

INSTANTIATE_TEST_SUITE_P(Sizes, Matmul,
                         testing::Values(Size{1, 1, 1, 1}, Size{3, 5, 7, 2}, Size{1, 17, 9, 1}, Size{11, 1, 2, 3}));

}  // namespace
}  // namespace saltern
