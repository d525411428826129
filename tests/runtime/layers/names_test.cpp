// A program that includes <cmath> and uses the namespace can call every function of Variables by its name: C has
// functions of some of these names in the global namespace.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "runtime/layers.h"

using namespace saltern;  // as programs do

namespace {

TEST(Names, EveryFunctionOfOneVariableCanBeCalled) {
  const Variable x(Tensor::full({2}, 0.5));
  const std::vector<std::pair<Variable, double>> values = {
      {absolute(x), 0.5},        {cosine(x), std::cos(0.5)},   {erf(x), std::erf(0.5)},
      {exp(x), std::exp(0.5)},   {leaky_relu(x), 0.5},         {log(x), std::log(0.5)},
      {negate(x), -0.5},         {reciprocal(x), 2},           {relu(x), 0.5},
      {sine(x), std::sin(0.5)},  {sqrt(x), std::sqrt(0.5)},    {square(x), 0.25},
      {tanh(x), std::tanh(0.5)}, {sigmoid(x), 0.622459331201}, {silu(x), 0.311229665600},
      {gelu(x), 0.345731229}};
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i].first.value().reals()[0], values[i].second, 1e-6) << i;
}

TEST(Names, EveryFunctionOfTwoVariablesCanBeCalled) {
  const Variable a(Tensor::full({2}, 3)), b(Tensor::full({2}, 2));
  const std::vector<std::pair<Variable, double>> values = {
      {add(a, b), 5},     {subtract(a, b), 1}, {multiply(a, b), 6}, {divide(a, b), 1.5},
      {maximum(a, b), 3}, {minimum(a, b), 2},  {power(a, b), 9}};
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i].first.value().reals()[0], values[i].second, 1e-5) << i;
}

TEST(Names, OthersTooAndThoseOfNumbersAreStillCs) {
  const Variable x(Tensor::full({2, 2}, 1));
  EXPECT_EQ(sum(x).value().item(), 4);
  EXPECT_EQ(mean(x).value().item(), 1);
  EXPECT_EQ(sum(softmax(x)).value().item(), 2);
  EXPECT_EQ(matmul(x, transpose(x, {1, 0})).value().reals()[0], 2);
  EXPECT_EQ(reshape(slice(concat({x, x}, 0), 0, 0, 2), {4}).shape(), Shape{4});
  EXPECT_EQ(exp(0.0), 1.0);
  EXPECT_EQ(sqrt(4.0), 2.0);
  EXPECT_EQ(abs(-3), 3);
}

}  // namespace
