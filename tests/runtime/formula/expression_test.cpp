// Formulas as data: their text, their bounds, what they refuse.

#include "dsl/expression.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace saltern::formula {
namespace {

Expression x0(std::vector<Expression> at) { return load(0, Type::f32, std::move(at)); }

TEST(Expression, TextComesBackAsTheSameFormula) {
  const Expression x = x0({axis(0), axis(1)});
  const Expression gate = 1.0 / (1.0 + exp(-x));
  const std::vector<Expression> all = {
      x * gate,
      select(x < 0, constant(Type::f32, -0.5), cast(Type::f32, axis(1) % 3)),
      reduce(Function::sum, {7, 3},
             [&](const auto &s) {
               return x0({axis(0), s[0] * 3 + s[1]});
             }) /
          21.0,
      cast(Type::i64, bits_as(Type::i32, x)),
      reduce(Function::first_greatest, {5},
             [&](const auto &s) {
               return x0({axis(0), s[0]});
             }),
      constant(Type::f64, 1.0 / 3),
      constant_integer(Type::u64, -1),
  };
  for (const Expression &e : all) {
    const std::string text = to_string(e);
    const Expression back = parse_expression(text);
    EXPECT_EQ(to_string(back), text);
    EXPECT_EQ(back.type(), e.type()) << text;
  }
}

TEST(Expression, WhatIsUsedTwiceIsWrittenOnce) {
  Expression x = x0({axis(0)});
  for (int i = 0; i < 40; ++i) x = x * x;  // 2^40 leaves, were it a tree
  const std::string text = to_string(x);
  EXPECT_LT(text.size(), 2000u);
  EXPECT_EQ(to_string(parse_expression(text)), text);
}

TEST(Expression, EqualFormulasHaveEqualTextsWhateverTheirStepsAreNumbered) {
  const auto total = [] { return reduce(Function::sum, {4}, [](const auto &s) { return x0({axis(0), s[0]}); }); };
  EXPECT_EQ(to_string(total()), to_string(total()));
}

TEST(Expression, BrokenTextSaysWhatWasExpected) {
  for (const std::string text : {"", "add(a0", "add(a0)", "x0.f33[a0]", "s0", "sum{s0 < 3}(s1)", "nothing(a0)", "f32",
                                 "select(a0, a0)", "a0 a1", "add(a0, f32 1)", "exp(i4 1)"})
    EXPECT_THROW(parse_expression(text), std::invalid_argument) << text;
  EXPECT_THROW(parse_expression(std::string(100000, '(')), std::invalid_argument);
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "negate(";
  EXPECT_THROW(parse_expression(deep), std::invalid_argument);
}

TEST(Expression, BoundsHoldEveryValue) {
  const std::vector<int64_t> extents = {5, 7};
  const Expression a = axis(0), b = axis(1);
  struct Case {
    Expression e;
    int64_t (*value)(int64_t a, int64_t b);
  };
  const std::vector<Case> cases = {
      {a * 3 - b, [](int64_t i, int64_t j) { return i * 3 - j; }},
      {(a - b) * (b - 2), [](int64_t i, int64_t j) { return (i - j) * (j - 2); }},
      {(a + b) / 2, [](int64_t i, int64_t j) { return (i + j) / 2; }},
      {(a - 9) % 4, [](int64_t i, int64_t) { return ((i - 9) % 4 + 4) % 4; }},
      {max(min(a - 2, b), 1), [](int64_t i, int64_t j) { return std::max(std::min(i - 2, j), int64_t{1}); }},
  };
  for (const Case &c : cases) {
    const Interval known = bounds(c.e, extents);
    for (int64_t i = 0; i < 5; ++i)
      for (int64_t j = 0; j < 7; ++j) {
        EXPECT_LE(known.least, c.value(i, j)) << to_string(c.e);
        EXPECT_GE(known.greatest, c.value(i, j)) << to_string(c.e);
      }
  }
  EXPECT_EQ(bounds(a, extents).greatest, 4);
}

TEST(Expression, TypesMustFit) {
  const Expression x = x0({axis(0)});
  EXPECT_THROW(call(Function::add, x, axis(0)), std::invalid_argument);
  EXPECT_THROW(load(0, Type::f32, {x}), std::invalid_argument);
  EXPECT_THROW(select(x, x, x), std::invalid_argument);
  EXPECT_THROW(-load(0, Type::f8e5m2, {axis(0)}), std::invalid_argument);
  EXPECT_THROW(bits_as(Type::f64, x), std::invalid_argument);
}

}  // namespace
}  // namespace saltern::formula
