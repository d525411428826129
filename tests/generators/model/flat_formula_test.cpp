// Formulas with fewer dimensions say the same of the same memory.

#include "generators/model/flat_formula.h"

#include <gtest/gtest.h>

namespace saltern::generators {
namespace {

using namespace formula;

Graph::Value value(const Shape &shape, Layout layout = Layout::row_major) {
  Graph::Value v = {shape, Type::f32, {}};
  v.layout = layout;
  return v;
}

Expression x(const std::vector<Expression> &at) { return load(0, Type::f32, at); }
Expression w(const std::vector<Expression> &at) { return load(1, Type::f32, at); }
Expression number(int64_t n) { return constant_integer(Type::i64, n); }

void expect_text(const FlatFormula &f, const Expression &element, const Shape &result, const std::vector<Shape> &of) {
  EXPECT_EQ(to_string(f.element), to_string(element));
  EXPECT_EQ(f.result.shape, result);
  ASSERT_EQ(f.operands.size(), of.size());
  for (size_t i = 0; i < of.size(); ++i) EXPECT_EQ(f.operands[i].shape, of[i]);
}

Expression plane_sum() {
  return reduce(Function::sum, {7, 5}, [](const auto &s) { return x({axis(0), axis(1), s[0], s[1]}); });
}

TEST(FlatFormula, APlaneIsARow) {
  expect_text(flattened(plane_sum(), value({2, 3, 1, 1}), {value({2, 3, 7, 5})}),
              reduce(Function::sum, {35},
                     [](const auto &s) {
                       return x({axis(0), s[0]});
                     }),
              {6}, {{6, 35}});
}

TEST(FlatFormula, ChannelsThatAreInnermostStayThere) {
  expect_text(flattened(plane_sum(), value({2, 3, 1, 1}), {value({2, 3, 7, 5}, Layout::channels_last)}),
              reduce(Function::sum, {35},
                     [](const auto &s) {
                       return x({axis(0), s[0], axis(1)});
                     }),
              {2, 3}, {{2, 35, 3}});
}

TEST(FlatFormula, WhatIsReadAloneStaysAlone) {
  const Expression scaled = x({axis(0), axis(1), axis(2), axis(3)}) * w({axis(1), number(0)}) + plane_sum();
  expect_text(flattened(scaled, value({2, 3, 7, 5}), {value({2, 3, 7, 5}), value({3, 1})}),
              x({axis(0), axis(1), axis(2)}) * w({axis(1)}) + reduce(Function::sum, {35},
                                                                     [](const auto &s) {
                                                                       return x({axis(0), axis(1), s[0]});
                                                                     }),
              {2, 3, 35}, {{2, 3, 35}, {3}});
}

TEST(FlatFormula, WhatIsComputedWithStaysAlone) {
  const auto shifted = [](const auto &s) { return x({s[0], s[1] + axis(0)}); };
  const Expression e = reduce(Function::sum, {7, 3}, shifted);
  expect_text(flattened(e, value({4}), {value({7, 6})}), e, {4}, {{7, 6}});
  // A part of a row is no row.
  const Expression part = reduce(Function::sum, {7, 3}, [](const auto &s) { return x({s[0], s[1]}); });
  expect_text(flattened(part, value({}), {value({7, 6})}), part, {}, {{7, 6}});
}

TEST(FlatFormula, StepsOfOneGo) {
  const Expression e = reduce(Function::sum, {1, 6}, [](const auto &s) { return x({axis(0), s[0], s[1]}); });
  expect_text(flattened(e, value({4, 1}), {value({4, 1, 6})}),
              reduce(Function::sum, {6},
                     [](const auto &s) {
                       return x({axis(0), s[0]});
                     }),
              {4}, {{4, 6}});
}

}  // namespace
}  // namespace saltern::generators
