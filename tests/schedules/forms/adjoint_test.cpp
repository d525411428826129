// The automatic gradient, against derivatives that are known in closed form.

#include "tests/adjoint.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "tests/evaluate.h"
#include "tests/gradients.h"

namespace saltern {
namespace {

using forms::Tensor;
using Halide::Buffer;

Tensor sum_of(const Tensor &x, const std::function<Halide::Expr(Halide::Expr)> &f) {
  Halide::RDom r(0, x.extent(0), "r");
  Halide::Func y("sum");
  y() = Halide::cast(x.type(), 0);
  y() += f(x(r));
  return {y, {}};
}

Tensor one() {
  Buffer<double> b = Buffer<double>::make_scalar();
  b() = 1;
  return Tensor(b);
}

Tensor ones(int size) {
  Buffer<double> b(size);
  b.fill(1);
  return Tensor(b);
}

void expect_each(const Tensor &got, const Buffer<double> &x, const std::function<double(double)> &want) {
  const Buffer<double> values = evaluate<double>(got);
  ASSERT_EQ(values.dim(0).extent(), x.dim(0).extent());
  for (int i = 0; i < x.dim(0).extent(); ++i) EXPECT_NEAR(values(i), want(x(i)), 1e-12) << "element " << i;
}

class Sizes : public testing::TestWithParam<int> {};

TEST_P(Sizes, GradientOfASumOfSquaresIsTwiceTheInput) {
  const Buffer<double> values = random_buffer<double>({GetParam()}, 1);
  const Tensor x(values);
  const Tensor y = sum_of(x, [](Halide::Expr v) { return v * v; });
  expect_each(forms::gradient(y, one(), {x})[0], values, [](double v) { return 2 * v; });
}

TEST_P(Sizes, SecondOrderOfASumOfSquaresIsTheConstantTwo) {
  const Buffer<double> values = random_buffer<double>({GetParam()}, 1);
  const Tensor x(values);
  const Tensor dx = forms::gradient(sum_of(x, [](Halide::Expr v) { return v * v; }), one(), {x})[0];
  expect_each(forms::gradient(dx, ones(GetParam()), {x})[0], values, [](double) { return 2.0; });
}

TEST_P(Sizes, SecondOrderOfTanhIsItsSecondDerivative) {
  const Buffer<double> values = random_buffer<double>({GetParam()}, 2, -2, 2);
  const Tensor x(values);
  Halide::Var i("i");
  Halide::Func y("y");
  y(i) = Halide::tanh(x(i));
  const Tensor dx = forms::gradient({y, x.extents()}, ones(GetParam()), {x})[0];
  expect_each(dx, values, [](double v) { return 1 - std::tanh(v) * std::tanh(v); });
  expect_each(forms::gradient(dx, ones(GetParam()), {x})[0], values,
              [](double v) { return -2 * std::tanh(v) * (1 - std::tanh(v) * std::tanh(v)); });
}

INSTANTIATE_TEST_SUITE_P(Gradient, Sizes, testing::Values(1, 2, 7, 17), testing::PrintToStringParamName());

TEST(Gradient, ForAnInputThatIsNotUsedIsZero) {
  const Buffer<double> values = random_buffer<double>({5}, 1), others = random_buffer<double>({3}, 2);
  const Tensor x(values), other(others);
  const Tensor y = sum_of(x, [](Halide::Expr v) { return v * v; });
  expect_each(forms::gradient(y, one(), {x, other})[1], others, [](double) { return 0.0; });
}

TEST(Gradient, NamesTheAlgorithmThatHalideRefuses) {
  const Buffer<double> values = random_buffer<double>({5}, 1);
  const Tensor x(values);
  Halide::RDom r(0, x.extent(0), "r");
  Halide::Func largest("largest");
  largest() = x.type().min();
  largest() = Halide::max(largest(), x(r));
  try {
    forms::gradient({largest, {}}, one(), {x});
    FAIL() << "a maximum has no automatic gradient";
  } catch (const std::invalid_argument &e) {
    EXPECT_NE(std::string(e.what()).find("largest"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("explicit"), std::string::npos) << e.what();
  }
}

TEST(Gradient, WantsAnAdjointOfTheResultsRank) {
  const Buffer<double> values = random_buffer<double>({5}, 1);
  const Tensor x(values);
  EXPECT_THROW(forms::gradient(x, one(), {x}), std::invalid_argument);
}

// The check itself can fail.
TEST(CheckGradient, CatchesAWrongGradient) {
  const auto square = [](const Tensors &in) {
    Halide::Var i("i");
    Halide::Func y("square");
    y(i) = in[0](i) * in[0](i);
    return Tensor(y, in[0].extents());
  };
  const auto wrong = [](const Tensors &in, const Tensor &dy) {
    Halide::Var i("i");
    Halide::Func dx("wrong");
    dx(i) = in[0](i) * dy(i);
    return Tensor(dx, in[0].extents());
  };
  testing::TestPartResultArray failures;
  {
    testing::ScopedFakeTestPartResultReporter catching(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
    check_gradient({random_buffer<double>({5}, 1)}, square, {{0, wrong}});
  }
  EXPECT_EQ(failures.size(), 2) << "one failure each against finite differences and the adjoint";
}

}  // namespace
}  // namespace saltern
