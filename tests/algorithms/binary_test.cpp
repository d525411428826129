// Elementwise functions of two tensors, against plain arithmetic, and their gradients.

#include "algorithms/binary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "tests/gradients.h"

namespace saltern {
namespace {

using algorithms::Binary;
using dsl::Tensor;
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

class BinaryFunction : public testing::TestWithParam<std::string> {
 protected:
  const Binary &f = algorithms::find_binary(GetParam());
};

TEST_P(BinaryFunction, IsTheOracles) {
  const auto oracle = oracles().find(f.name);
  ASSERT_NE(oracle, oracles().end()) << "give '" << f.name << "' an oracle in this test";
  const Buffer<float> a = random_buffer({1009}, 1, f.low, f.high), b = random_buffer({1009}, 2, f.low, f.high);
  const Buffer<float> y = evaluate<float>(algorithms::apply(f, Tensor(a), Tensor(b)));
  for (int i = 0; i < 1009; ++i) {
    const double want = oracle->second(a(i), b(i));
    EXPECT_NEAR(y(i), want, 1e-6 * std::max(1.0, std::fabs(want))) << f.name << "(" << a(i) << ", " << b(i) << ")";
  }
}

TEST_P(BinaryFunction, GradientsMatchAdjointAndFiniteDifferences) {
  for (const std::vector<int> &extents : std::vector<std::vector<int>>{{1}, {17}, {5, 3}})
    check_gradient(
        {random_buffer<double>(extents, 7, f.low, f.high), random_buffer<double>(extents, 8, f.low, f.high)},
        [&](const Tensors &in) { return algorithms::apply(f, in[0], in[1]); },
        {{0, [&](const Tensors &in, const Tensor &dy) { return algorithms::gradient_of_a(f, in[0], in[1], dy); }},
         {1, [&](const Tensors &in, const Tensor &dy) { return algorithms::gradient_of_b(f, in[0], in[1], dy); }}});
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Binary &f : algorithms::binary_functions()) all.push_back(f.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Table, BinaryFunction, testing::ValuesIn(names()),
                         [](const auto &info) { return info.param; });

using Gradient = Tensor (*)(const Binary &, const Tensor &, const Tensor &, const Tensor &);

float derivative_at(const std::string &name, Gradient gradient, float a, float b) {
  Buffer<float> at(1), bt(1), one(1);
  at(0) = a;
  bt(0) = b;
  one(0) = 1;
  return evaluate<float>(gradient(algorithms::find_binary(name), Tensor(at), Tensor(bt), Tensor(one)))(0);
}

TEST(Binary, SharesTheDerivativeOfATie) {
  for (const char *name : {"maximum", "minimum"}) {
    EXPECT_EQ(derivative_at(name, algorithms::gradient_of_a, 2, 2), 0.5f);
    EXPECT_EQ(derivative_at(name, algorithms::gradient_of_b, 2, 2), 0.5f);
  }
}

TEST(Binary, PowerHasDerivativesAtItsEdges) {
  EXPECT_EQ(derivative_at("power", algorithms::gradient_of_a, 0, 0), 0);
  EXPECT_EQ(derivative_at("power", algorithms::gradient_of_a, 0, 1), 1);
  EXPECT_EQ(derivative_at("power", algorithms::gradient_of_a, 0, 2), 0);
  EXPECT_NEAR(derivative_at("power", algorithms::gradient_of_a, -3, 2), -6, 1e-5);
  EXPECT_EQ(derivative_at("power", algorithms::gradient_of_b, 0, 2), 0);
}

}  // namespace
}  // namespace saltern
