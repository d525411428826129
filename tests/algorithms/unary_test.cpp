// Elementwise functions, against the C library's in f32 and f64, and their gradients.

#include "algorithms/unary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "tests/gradients.h"

namespace saltern {
namespace {

using algorithms::Unary;
using dsl::Tensor;
using Halide::Buffer;

using Formula = std::function<double(double)>;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

const std::map<std::string, Formula> &oracles() {
  static const std::map<std::string, Formula> table = {
      {"relu", [](double x) { return x > 0 ? x : 0; }},
      {"leaky_relu", [](double x) { return x > 0 ? x : 0.01 * x; }},
      {"sigmoid", logistic},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"exp", [](double x) { return std::exp(x); }},
      {"log", [](double x) { return std::log(x); }},
      {"sqrt", [](double x) { return std::sqrt(x); }},
      {"reciprocal", [](double x) { return 1 / x; }},
      {"negate", [](double x) { return -x; }},
      {"absolute", [](double x) { return std::fabs(x); }},
      {"square", [](double x) { return x * x; }},
      {"gelu", [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }},
      {"silu", [](double x) { return x * logistic(x); }},
      {"erf", [](double x) { return std::erf(x); }},
      {"sine", [](double x) { return std::sin(x); }},
      {"cosine", [](double x) { return std::cos(x); }},
  };
  return table;
}

class UnaryFunction : public testing::TestWithParam<std::string> {
 protected:
  const Unary &f = algorithms::find_unary(GetParam());
};

TEST_P(UnaryFunction, IsTheLibrarysFunction) {
  const auto oracle = oracles().find(f.name);
  ASSERT_NE(oracle, oracles().end()) << "give '" << f.name << "' an oracle in this test";
  const Buffer<float> x = random_buffer({1009}, 1, f.low, f.high);
  const Buffer<float> y = evaluate<float>(algorithms::apply(f, Tensor(x)));
  for (int i = 0; i < 1009; ++i) {
    const double want = oracle->second(x(i));
    EXPECT_NEAR(y(i), want, 1e-6 * std::max(1.0, std::fabs(want))) << f.name << "(" << x(i) << ")";
  }
}

TEST_P(UnaryFunction, GradientMatchesAdjointAndFiniteDifferences) {
  // Halide has no adjoint of the library's erf.
  const Adjoint adjoint = f.name == "erf" || f.name == "gelu" ? Adjoint::no : Adjoint::yes;
  for (const std::vector<int> &extents : std::vector<std::vector<int>>{{1}, {17}, {5, 3}})
    check_gradient(
        {random_buffer<double>(extents, 7, f.low, f.high)},
        [&](const Tensors &in) { return algorithms::apply(f, in[0]); },
        {{0, [&](const Tensors &in, const Tensor &dy) { return algorithms::gradient_of(f, in[0], dy); }}}, adjoint);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Unary &f : algorithms::unary_functions()) all.push_back(f.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Table, UnaryFunction, testing::ValuesIn(names()), [](const auto &info) { return info.param; });

float value_at(const std::string &name, float x) {
  Buffer<float> b(1);
  b(0) = x;
  return evaluate<float>(algorithms::apply(algorithms::find_unary(name), Tensor(b)))(0);
}

float derivative_at(const std::string &name, float x) {
  Buffer<float> b(1), one(1);
  b(0) = x;
  one(0) = 1;
  return evaluate<float>(algorithms::gradient_of(algorithms::find_unary(name), Tensor(b), Tensor(one)))(0);
}

TEST(Unary, KeepsItsRelativeAccuracyNearZero) {
  for (const char *name : {"tanh", "erf"})
    for (float x : {1e-6f, -1e-4f, 1e-3f, 0.03f})
      EXPECT_NEAR(value_at(name, x) / oracles().at(name)(x), 1, 1e-6) << name << "(" << x << ")";
}

TEST(Unary, SaturatesWithoutOverflow) {
  for (float large : {20.f, 89.f, 3e38f}) {
    EXPECT_NEAR(value_at("tanh", large), 1, 4e-7);
    EXPECT_NEAR(value_at("tanh", -large), -1, 4e-7);
    EXPECT_NEAR(value_at("erf", -large), -1, 4e-7);
    EXPECT_EQ(value_at("sigmoid", large), 1);
    EXPECT_NEAR(value_at("sigmoid", -large), 0, 1e-8);
    EXPECT_EQ(value_at("silu", large), large);
    EXPECT_NEAR(value_at("silu", -large), 0, 1e-7);
    EXPECT_EQ(value_at("gelu", large), large);
    for (const char *name : {"tanh", "sigmoid", "erf"})
      for (float x : {large, -large}) EXPECT_NEAR(derivative_at(name, x), 0, 1e-8) << name << "'(" << x << ")";
    for (const char *name : {"silu", "gelu"}) {
      EXPECT_NEAR(derivative_at(name, large), 1, 1e-6) << name;
      EXPECT_NEAR(derivative_at(name, -large), 0, 1e-6) << name;
    }
  }
  EXPECT_NEAR(value_at("sigmoid", -80.f) / std::exp(-80.0), 1, 1e-5) << "the tail does not vanish early";
}

// Of NaN all are NaN, and of infinity they are what the C library says.
TEST(Unary, OfNaNAndInfinityIsTheLibrarysFunction) {
  for (const auto &[name, oracle] : oracles()) {
    EXPECT_TRUE(std::isnan(value_at(name, NAN))) << name;
    const bool wraps = name == "sine" || name == "cosine", falls = name == "gelu" || name == "silu";
    for (float x : {INFINITY, -INFINITY}) {
      if (wraps || name == "relu" || name == "leaky_relu" || (falls && x < 0)) continue;
      const double want = oracle(x);
      const float got = value_at(name, x);
      EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << name << "(" << x << ") is " << got;
    }
  }
}

TEST(Unary, HasADerivativeAtItsKinks) {
  EXPECT_EQ(derivative_at("relu", 0), 0);
  EXPECT_EQ(derivative_at("leaky_relu", 0), 0.01f);
  EXPECT_EQ(derivative_at("absolute", 0), 0);
}

TEST(Unary, NamesTheFunctionThatItDoesNotHave) {
  EXPECT_THROW(algorithms::find_unary("no_such_function"), std::invalid_argument);
}

}  // namespace
}  // namespace saltern
