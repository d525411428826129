// Elementwise functions of one tensor, against the C library's in f32, and their gradients.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "algorithms/elementwise.h"
#include "tests/values.h"

namespace saltern {
namespace {

using algorithms::find_row;
using algorithms::unary_rows;
using algorithms::UnaryRow;
using formula::Value;
using formula::Values;
using Halide::Buffer;

using Function = std::function<double(double)>;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

const std::map<std::string, Function> &oracles() {
  static const std::map<std::string, Function> table = {
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

Buffer<float> values_at(const std::string &name, const Buffer<float> &x) {
  return result_of<float>([&](const Values &in) { return find_row(unary_rows(), name)->of(in[0]); }, {x});
}

Buffer<float> derivatives_at(const std::string &name, const Buffer<float> &x) {
  Buffer<float> ones(x.width());
  ones.fill(1);
  return result_of<float>(
      [&](const Values &in) {
        return formula::gradient({find_row(unary_rows(), name)->of(in[0])}, {in[1]}, {in[0]})[0];
      },
      {x, ones});
}

class UnaryFunction : public testing::TestWithParam<UnaryRow> {
 protected:
  const UnaryRow &f = GetParam();
};

TEST_P(UnaryFunction, IsTheLibrarysFunction) {
  const auto oracle = oracles().find(f.name);
  ASSERT_NE(oracle, oracles().end()) << "give '" << f.name << "' an oracle in this test";
  const Buffer<float> x = random_buffer({1009}, 1, f.low, f.high), y = values_at(f.name, x);
  for (int i = 0; i < 1009; ++i) {
    const double want = oracle->second(x(i));
    EXPECT_NEAR(y(i), want, 1e-6 * std::max(1.0, std::fabs(want))) << f.name << "(" << x(i) << ")";
  }
}

TEST_P(UnaryFunction, GradientMatchesFiniteDifferences) {
  for (const std::vector<int> &extents : std::vector<std::vector<int>>{{1}, {17}, {5, 3}})
    expect_gradients([&](const Values &in) { return f.of(in[0]); }, {random_buffer<double>(extents, 7, f.low, f.high)});
}

INSTANTIATE_TEST_SUITE_P(Table, UnaryFunction, testing::ValuesIn(unary_rows()),
                         [](const auto &info) { return info.param.name; });

// Beside those of the same functions without a rule.
TEST(Unary, GradientsByARuleAreTheDerivedOnes) {
  const std::map<std::string, Formula> plain = {{"relu", [](const Values &in) { return max(in[0], 0); }},
                                                {"sigmoid", [](const Values &in) { return 1 / (exp(-in[0]) + 1); }}};
  for (const auto &[name, f] : plain) {
    const UnaryRow &row = *find_row(unary_rows(), name);
    expect_gradients(f, {random_buffer<double>({17}, 7, row.low, row.high)},
                     [&](const Values &in, const Value &dy) { return formula::gradient({row.of(in[0])}, {dy}, in); });
  }
}

TEST(Unary, KeepsItsRelativeAccuracyNearZero) {
  const auto x = buffer_with<float>({4}, {1e-6f, -1e-4f, 1e-3f, 0.03f});
  for (const char *name : {"tanh", "erf"}) {
    const Buffer<float> y = values_at(name, x);
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(y(i) / oracles().at(name)(x(i)), 1, 1e-6) << name << "(" << x(i) << ")";
  }
}

TEST(Unary, SaturatesWithoutOverflow) {
  const auto large = buffer_with<float>({3}, {20.f, 89.f, 3e38f}),
             small = buffer_with<float>({3}, {-20.f, -89.f, -3e38f});
  // What a function and its derivative are near, on the side of large numbers and on that of small ones.
  const auto expect_near = [&](const Buffer<float> &got, double want, double tolerance, const std::string &what) {
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(got(i), want, tolerance) << what << " of " << large(i) << " or its negative";
  };
  expect_near(values_at("tanh", large), 1, 4e-7, "tanh");
  expect_near(values_at("tanh", small), -1, 4e-7, "tanh");
  expect_near(values_at("erf", small), -1, 4e-7, "erf");
  expect_near(values_at("sigmoid", large), 1, 0, "sigmoid");
  expect_near(values_at("sigmoid", small), 0, 1e-8, "sigmoid");
  expect_near(values_at("silu", small), 0, 1e-7, "silu");
  for (const char *name : {"silu", "gelu"}) {
    const Buffer<float> y = values_at(name, large);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(y(i), large(i)) << name;
    expect_near(derivatives_at(name, large), 1, 1e-6, name + std::string("'"));
    expect_near(derivatives_at(name, small), 0, 1e-6, name + std::string("'"));
  }
  for (const char *name : {"tanh", "sigmoid", "erf"})
    for (const Buffer<float> &x : {large, small})
      expect_near(derivatives_at(name, x), 0, 1e-8, name + std::string("'"));
  EXPECT_NEAR(values_at("sigmoid", buffer_with<float>({1}, {-80.f}))(0) / std::exp(-80.0), 1, 1e-5)
      << "the tail does not vanish early";
}

// Of NaN all are NaN, and of infinity they are what the C library says.
TEST(Unary, OfNaNAndInfinityIsTheLibrarysFunction) {
  const auto x = buffer_with<float>({3}, {NAN, INFINITY, -INFINITY});
  for (const auto &[name, oracle] : oracles()) {
    const Buffer<float> y = values_at(name, x);
    EXPECT_TRUE(std::isnan(y(0))) << name;
    for (int i : {1, 2}) {
      const double want = oracle(x(i));
      EXPECT_TRUE(y(i) == want || (std::isnan(y(i)) && std::isnan(want))) << name << "(" << x(i) << ") is " << y(i);
    }
  }
}

TEST(Unary, HasADerivativeAtItsKinks) {
  const auto zero = buffer_with<float>({1}, {0.f});
  EXPECT_EQ(derivatives_at("relu", zero)(0), 0);
  EXPECT_EQ(derivatives_at("leaky_relu", zero)(0), 0.01f);
  EXPECT_EQ(derivatives_at("absolute", zero)(0), 0);
}

TEST(Unary, HasNoRowOfANameThatIsNotItsOwn) { EXPECT_EQ(find_row(unary_rows(), "no_such_function"), nullptr); }

}  // namespace
}  // namespace saltern
