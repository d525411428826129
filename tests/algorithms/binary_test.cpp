// Elementwise functions of two tensors, against plain arithmetic, and their gradients.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "algorithms/elementwise.h"
#include "tests/values.h"

namespace saltern {
namespace {

using algorithms::binary_rows;
using algorithms::BinaryRow;
using algorithms::find_row;
using formula::Value;
using formula::Values;
using Halide::Buffer;

const std::map<std::string, std::function<double(double, double)>> &oracles() {
  static const std::map<std::string, std::function<double(double, double)>> table = {
      {"add", [](double a, double b) { return a + b; }},
      {"subtract", [](double a, double b) { return a - b; }},
      {"multiply", [](double a, double b) { return a * b; }},
      {"divide", [](double a, double b) { return a / b; }},
      {"maximum", [](double a, double b) { return a > b ? a : b; }},
      {"minimum", [](double a, double b) { return a < b ? a : b; }},
      {"power", [](double a, double b) { return std::pow(a, b); }},
  };
  return table;
}

class BinaryFunction : public testing::TestWithParam<BinaryRow> {
 protected:
  const BinaryRow &f = GetParam();
};

TEST_P(BinaryFunction, IsTheOracles) {
  const auto oracle = oracles().find(f.name);
  ASSERT_NE(oracle, oracles().end()) << "give '" << f.name << "' an oracle in this test";
  const Buffer<float> a = random_buffer({1009}, 1, f.low, f.high), b = random_buffer({1009}, 2, f.low, f.high);
  const auto y = result_of<float>([&](const Values &in) { return f.of(in[0], in[1]); }, {a, b});
  for (int i = 0; i < 1009; ++i) {
    const double want = oracle->second(a(i), b(i));
    EXPECT_NEAR(y(i), want, 1e-6 * std::max(1.0, std::fabs(want))) << f.name << "(" << a(i) << ", " << b(i) << ")";
  }
}

TEST_P(BinaryFunction, GradientsMatchFiniteDifferences) {
  for (const std::vector<int> &extents : std::vector<std::vector<int>>{{1}, {17}, {5, 3}})
    expect_gradients(
        [&](const Values &in) { return f.of(in[0], in[1]); },
        {random_buffer<double>(extents, 7, f.low, f.high), random_buffer<double>(extents, 8, f.low, f.high)});
}

INSTANTIATE_TEST_SUITE_P(Table, BinaryFunction, testing::ValuesIn(binary_rows()),
                         [](const auto &info) { return info.param.name; });

// Beside those of the same functions without a rule.
TEST(Binary, GradientsByARuleAreTheDerivedOnes) {
  const std::map<std::string, Formula> plain = {{"maximum", [](const Values &in) { return max(in[0], in[1]); }},
                                                {"minimum", [](const Values &in) { return min(in[0], in[1]); }},
                                                {"power", [](const Values &in) { return power(in[0], in[1]); }}};
  for (const auto &[name, f] : plain) {
    const BinaryRow &row = *find_row(binary_rows(), name);
    const auto operand = [&](unsigned seed) { return random_buffer<double>({17}, seed, row.low, row.high); };
    expect_gradients(f, {operand(7), operand(8)}, [&](const Values &in, const Value &dy) {
      return formula::gradient({row.of(in[0], in[1])}, {dy}, in);
    });
  }
}

struct Derivatives {
  Buffer<float> of_a, of_b;
};

Derivatives derivatives_at(const std::string &name, const std::vector<float> &a, const std::vector<float> &b) {
  const std::vector<int> extents = {static_cast<int>(a.size())};
  const auto d = results_of(
      [&](const Values &in) {
        return formula::gradient({find_row(binary_rows(), name)->of(in[0], in[1])}, {in[2]}, {in[0], in[1]});
      },
      {buffer_with(extents, a), buffer_with(extents, b), buffer_with(extents, std::vector<float>(a.size(), 1))});
  return {d[0], d[1]};
}

TEST(Binary, SharesTheDerivativeOfATie) {
  for (const char *name : {"maximum", "minimum"}) {
    const Derivatives d = derivatives_at(name, {2}, {2});
    EXPECT_EQ(d.of_a(0), 0.5f);
    EXPECT_EQ(d.of_b(0), 0.5f);
  }
}

TEST(Binary, TheMaximumAndTheMinimumOfANaNAreIt) {
  const auto a = buffer_with<float>({3}, {NAN, 1, NAN}), b = buffer_with<float>({3}, {1, NAN, NAN});
  for (const char *name : {"maximum", "minimum"}) {
    const auto y =
        result_of<float>([&](const Values &in) { return find_row(binary_rows(), name)->of(in[0], in[1]); }, {a, b});
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(y(i))) << name << "(" << a(i) << ", " << b(i) << ")";
  }
}

TEST(Binary, PowerHasDerivativesAtItsEdges) {
  const Derivatives d = derivatives_at("power", {0, 0, 0, -3}, {0, 1, 2, 2});
  EXPECT_EQ(d.of_a(0), 0);
  EXPECT_EQ(d.of_a(1), 1);
  EXPECT_EQ(d.of_a(2), 0);
  EXPECT_NEAR(d.of_a(3), -6, 1e-5);
  EXPECT_EQ(d.of_b(2), 0);
}

}  // namespace
}  // namespace saltern
