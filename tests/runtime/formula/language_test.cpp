// The language: every algorithm's derived gradient, and the gradient of that, against central differences in f64.

#include "dsl/derivative.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dsl/index_arithmetic.h"
#include "tests/algorithm_cases.h"

namespace saltern {
namespace {

const Tensor &given_for(const Given &g, const Value &input) {
  for (size_t i = 0; i < g.inputs.size(); ++i)
    if (g.inputs[i].get() == input.get()) return g.tensors[i];
  throw std::logic_error("not given");
}

// Gradients of `outputs`, compared at some elements of each input.
Values expect_gradients(const Values &outputs, const Values &seeds, const Values &wanted, const Given &g) {
  const Values dx = gradient(outputs, seeds, wanted);
  const std::vector<Tensor> found = values_of(dx, g);
  const auto loss = [&] {
    const std::vector<Tensor> y = values_of(outputs, g);
    double total = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      const Tensor &dy = given_for(g, seeds[i]), dense = y[i].in_layout(Layout::row_major);
      for (int64_t j = 0; j < dense.size(); ++j) total += dense.data<double>()[j] * dy.data<double>()[j];
    }
    return total;
  };
  double largest = 0;
  for (size_t w = 0; w < wanted.size(); ++w) {
    const Tensor &x = given_for(g, wanted[w]);
    EXPECT_EQ(found[w].shape(), x.shape());
    if (found[w].shape() != x.shape()) return dx;
    const Tensor d = found[w].in_layout(Layout::row_major);
    const int64_t stride = std::max<int64_t>(1, x.size() / 12);
    for (int64_t i = 0; i < x.size(); i += stride) {
      double &at = x.data<double>()[i];
      const double kept = at, h = 1e-5;
      at = kept + h;
      const double above = loss();
      at = kept - h;
      const double below = loss();
      at = kept;
      EXPECT_NEAR(d.data<double>()[i], (above - below) / (2 * h), 2e-6 * std::max(1.0, std::fabs(d.data<double>()[i])))
          << wanted[w]->name << " at " << i;
      largest = std::max(largest, std::fabs(d.data<double>()[i]));
    }
  }
  EXPECT_GT(largest, 0);
  return dx;
}

class Language : public testing::TestWithParam<std::pair<std::string, std::function<Case()>>> {};

TEST_P(Language, GradientsOfFirstAndSecondOrderMatchFiniteDifferences) {
  Case c = GetParam().second();
  const Values seeds = seeded(c.outputs, c.given, "dy");
  const Values dx = expect_gradients(c.outputs, seeds, c.wanted, c.given);
  if (HasFailure()) return;
  Values wanted = c.wanted;
  wanted.insert(wanted.end(), seeds.begin(), seeds.end());
  expect_gradients(dx, seeded(dx, c.given, "ddx"), wanted, c.given);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Language, testing::ValuesIn(algorithm_cases()),
                         [](const auto &info) { return case_name(info.param.first, info.index); });
INSTANTIATE_TEST_SUITE_P(Recurrences, Language, testing::ValuesIn(recurrent_cases()),
                         [](const auto &info) { return case_name(info.param.first, info.index); });

TEST(Index, ArithmeticHasOneForm) {
  const Expression h = formula::axis(0), w = formula::size("w");
  EXPECT_TRUE(is_same(h + w - w, h));
  EXPECT_TRUE(is_same((h + 1) * w, w * h + w));
  EXPECT_TRUE(is_same(formula::quotient(w * h + 3 * w, w), h + 3));
  EXPECT_TRUE(is_same(formula::modulo(h * 4 + 6, 4), formula::modulo(h * 4 + 2, 4)));
  EXPECT_TRUE(is_same(formula::quotient(h, w) * w + formula::modulo(h, w), h));
}

TEST(Index, QuotientsRoundDown) {
  EXPECT_TRUE(is_number(formula::quotient(-7, 2), -4));
  EXPECT_TRUE(is_number(formula::modulo(-7, 2), 1));
}

TEST(Index, AStrangersPowerOfASumStaysSmall) {
  Expression e = formula::axis(0) + formula::axis(1) + formula::axis(2);
  for (int i = 0; i < 64; ++i) e = e * e;
  int nodes = 0;
  formula::for_each_node(e, [&](const auto &) { ++nodes; });
  EXPECT_LT(nodes, 1000);
}

TEST(Index, SizesDecideConditions) {
  const Expression n = formula::size("n"), i = formula::axis(0);
  EXPECT_TRUE(formula::always_inside(i, n, {n}));
  EXPECT_FALSE(formula::always_inside(i + 1, n, {n}));
  EXPECT_TRUE(is_truth(formula::simplified(i < n, {n}), true));
}

TEST(Values, PlainNumbersTakeTheTypeOfWhatTheyMeet) {
  const Value x = formula::input("x", {2}, Type::f64), k = formula::input("k", {2}, Type::i32);
  EXPECT_EQ((x * 2 + 1).type(), Type::f64);
  EXPECT_EQ((k * 2).type(), Type::i32);
  EXPECT_THROW(x + k, std::invalid_argument);
}

TEST(Values, ExtentsThatDoNotBroadcastAreNamed) {
  const Value a = formula::input("a", {2, 3}), b = formula::input("b", {4});
  try {
    a + b;
    FAIL();
  } catch (const std::invalid_argument &e) {
    EXPECT_STREQ(e.what(), "extents 3 and 4 do not broadcast");
  }
}

TEST(Values, ARuleStandsInForTheDerivedGradient) {
  Given g;
  const Value x = sized(g, "x", {3}, {3});
  const Value y = with_gradient(x * x, {{x}, [](const Value &dy) { return Values{dy * 7}; }});
  const Values dx = gradient({y}, {sized(g, "dy", {3}, {3})}, {x});
  const Tensor d = values_of(dx, g)[0];
  for (int i = 0; i < 3; ++i) EXPECT_EQ(d.data<double>()[i], g.tensors[1].data<double>()[i] * 7);
}

TEST(Values, WhatARuleGivesGoesOnThroughMapsWithoutAName) {
  Given g;
  const Value x = sized(g, "x", {3}, {3}), twice = x * 2;
  const Value y = with_gradient(twice * twice, {{twice}, [](const Value &dy) { return Values{dy * 7}; }});
  const Tensor d = values_of(gradient({y}, {sized(g, "dy", {3}, {3})}, {x}), g)[0];
  for (int i = 0; i < 3; ++i) EXPECT_EQ(d.data<double>()[i], g.tensors[1].data<double>()[i] * 14);
}

}  // namespace
}  // namespace saltern
