// The dense layer, against naive loops, automatic adjoints and finite differences.

#include "schedules/forms/dense.h"

#include <gtest/gtest.h>

#include "tests/gradients.h"

namespace saltern {
namespace {

using forms::Tensor;
using Halide::Buffer;

struct Size {
  int in, out, batch;
};

class Dense : public testing::TestWithParam<Size> {
 protected:
  const int in = GetParam().in, out = GetParam().out, batch = GetParam().batch;
  const Buffer<double> x = random_buffer<double>({in, batch}, 1), w = random_buffer<double>({in, out}, 2),
                       b = random_buffer<double>({out}, 3);
};

TEST_P(Dense, IsTheSumOfProducts) {
  const Buffer<double> got = evaluate<double>(forms::dense(Tensor(x), Tensor(w), Tensor(b)));
  Buffer<double> want(out, batch);
  want.for_each_element([&](int o, int n) {
    want(o, n) = b(o);
    for (int i = 0; i < in; ++i) want(o, n) += w(i, o) * x(i, n);
  });
  EXPECT_LE(relative_difference(got, want), 1e-12);
}

TEST_P(Dense, GradientsMatchAdjointAndFiniteDifferences) {
  check_gradient({x, w, b}, [](const Tensors &in) { return forms::dense(in[0], in[1], in[2]); },
                 {{0, [](const Tensors &in, const Tensor &dy) { return forms::dense_gradient_x(in[1], dy); }},
                  {1, [](const Tensors &in, const Tensor &dy) { return forms::dense_gradient_w(in[0], dy); }}});
}

INSTANTIATE_TEST_SUITE_P(Sizes, Dense,
                         testing::Values(Size{1, 1, 1}, Size{7, 5, 3}, Size{17, 1, 2}, Size{1, 17, 5}, Size{9, 15, 1}));

}  // namespace
}  // namespace saltern
