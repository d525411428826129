// Linear algebra and Fourier transforms from C++, and as graphs: results and gradients are those of the tape. The numbers
// themselves are tested from Python (tests/python/test_linalg.py, test_fft.py), which has the same rows.

#include <gtest/gtest.h>

#include "runtime/autograd/backward.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/gradients.h"
#include "runtime/graph/text.h"
#include "runtime/graph/trace.h"
#include "runtime/layers/matmul.h"
#include "runtime/layers/unary.h"
#include "runtime/nn/decompositions.h"
#include "runtime/nn/function.h"
#include "tests/errors.h"
#include "tests/naive_graph.h"

namespace saltern {
namespace {

// Around the identity, times 2.
Tensor regular(const Shape &shape, uint64_t seed) {
  const Tensor t = random_tensor(shape, seed);
  const int64_t n = shape.back();
  for (int64_t row = 0; row < t.size() / n; ++row) t.data<float>()[row * n + row % n] += 2;
  return t;
}

struct Case {
  std::string name;
  std::function<Variable(const Variable &)> apply;
};

std::vector<Case> cases() {
  const auto positive = [](const Variable &x) { return matmul(x, transposed(x)); };
  return {
      {"cholesky", [=](const Variable &x) { return linalg::cholesky(positive(x)); }},
      {"solve", [](const Variable &x) { return linalg::solve(x, square(x)); }},
      {"solve_triangular", [](const Variable &x) { return linalg::solve_triangular(x, square(x), true); }},
      {"inv", [](const Variable &x) { return linalg::inv(x); }},
      {"det", [](const Variable &x) { return linalg::det(x); }},
      {"slogdet", [](const Variable &x) { return linalg::slogdet(x)[1]; }},
      {"eigh", [=](const Variable &x) { return linalg::eigh(positive(x))[0]; }},
      {"svd", [](const Variable &x) { return linalg::svd(x)[1]; }},
      {"qr", [](const Variable &x) { return linalg::qr(x)[1]; }},
      {"pinv", [](const Variable &x) { return linalg::pinv(x); }},
      {"matrix_exp", [](const Variable &x) { return linalg::matrix_exp(x); }},
  };
}

void expect_near(const Tensor &got, const Tensor &want, const std::string &what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  const std::vector<double> a = got.reals(), b = want.reals();
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-4 * (1 + std::fabs(b[i]))) << what << " at " << i;
}

TEST(LinearAlgebra, OfAGraphIsThatOfTheTape) {
  for (const Case &c : cases()) {
    const Recording recording;
    const Variable x(regular({2, 3, 3}, 1), true), y = c.apply(x);
    const Tensor dy = random_tensor(y.shape(), 2);
    const Graph once = with_gradients(trace({{"x", x}}, {{"y", y}}, {}), "y", {"x"});
    GradientOptions seeded;
    seeded.dy = dy;
    const Variable dx = gradients(y, {x}, seeded)[0];
    for (const Graph &graph : {once, parse_graph(to_text(once), {}, "text")}) {
      const auto got = run(graph, {{"x", x.value()}, {"d_y", dy}});
      expect_near(got.at("y"), y.value(), c.name);
      expect_near(got.at("d_x"), dx.value(), c.name + ", gradient");
    }
  }
}

TEST(LinearAlgebra, NamesTheMatrixThatIsSingular) {
  const Tensor a = Tensor::zeros({2, 2, 2});
  a.data<float>()[0] = a.data<float>()[3] = 1;
  expect_error([&] { linalg::inv(a); }, {"linalg.inv: matrix 1 of the batch", "is singular"});
  expect_error([&] { linalg::cholesky(a); }, {"linalg.cholesky: matrix 1 of the batch", "is not positive definite"});
}

TEST(LinearAlgebra, HasPyTorchsNames) {
  const Variable a(regular({2, 3, 3}, 3)), b(random_tensor({3, 2}, 4));
  const Variable x = nn::variable_of(nn::call("linalg.solve", {a, b}));
  expect_near(matmul(a, x).value(), expand(b, {2, 3, 2}).value(), "solve");
}

TEST(FourierTransforms, TakeAndGivePairs) {
  const Variable x(random_tensor({5, 6}, 1));
  const Variable z = nn::variable_of(nn::call("fft.rfft", {x}));
  EXPECT_EQ(z.shape(), (Shape{5, 4, 2}));
  expect_near(nn::variable_of(nn::call("fft.irfft", {z})).value(), x.value(), "irfft of rfft");
}

}  // namespace
}  // namespace saltern
