// Rows by numbers out of data, row by row, beside the interpreter.

#include "runtime/formula/library_rows.h"

#include <gtest/gtest.h>

#include "dsl/derivative.h"
#include "runtime/formula/evaluate_values.h"
#include "runtime/tensor/random.h"

namespace saltern {
namespace {

using formula::Expression;
using formula::Value;

Tensor drawn(const Shape &shape) {
  static Random random(6);
  return random.uniform_tensor(shape, -1, 1);
}

Value input(const char *name, const Tensor &t) {
  return formula::input(name, {t.shape().begin(), t.shape().end()}, t.type());
}

Value rows_at(const Value &table, const Value &places) {
  std::vector<Expression> extents = table.extents();
  extents[0] = places.extent(0);
  return formula::compute("rows", extents, [&](formula::Axes at) {
    at[0] = places(at[0]);
    return table.at(at);
  });
}

void expect_same(const Value &y, const formula::Values &inputs, const std::vector<Tensor> &given, bool is_in_library) {
  const formula::ExactFormulas all = formula::exact_formulas(inputs, {y});
  ASSERT_EQ(all.stages.size(), 1);
  std::vector<Tensor> operands;
  for (int o : all.stages[0].operands) operands.push_back(given.at(static_cast<size_t>(o)));
  const std::optional<Tensor> got = library_rows(all.stages[0], operands);
  ASSERT_EQ(got.has_value(), is_in_library);
  if (!got) return;
  const Tensor want = evaluate(all.stages[0], operands);
  ASSERT_EQ(got->shape(), want.shape());
  EXPECT_EQ(got->reals(), want.reals());  // sums of the same order
}

void expect_both_ways(const Tensor &table, const std::vector<int64_t> &at, bool is_in_library = true) {
  const Tensor places = Tensor::of<int64_t>({static_cast<int64_t>(at.size())}, at);
  const Value t = input("table", table), p = input("places", places), y = rows_at(t, p);
  expect_same(y, {t, p}, {table, places}, is_in_library);
  Shape shape = table.shape();
  shape[0] = places.extent(0);
  const Tensor dy = drawn(shape);
  const Value d = input("dy", dy);
  expect_same(formula::gradient({y}, {d}, {t})[0], {p, d}, {places, dy}, true);
}

TEST(LibraryRows, AreTheInterpretersBothWays) {
  expect_both_ways(drawn({5, 3}), {0, 4, 4, 2, 0, 4});
  expect_both_ways(drawn({2, 1}), {1, 0});
  expect_both_ways(drawn({7, 2, 3}), {6, 1, 1});
  expect_both_ways(drawn({300, 257}), std::vector<int64_t>(1000, 17));
}

TEST(LibraryRows, WhatLiesOutsideReadsSomeRowAndIsDropped) { expect_both_ways(drawn({4, 3}), {-1, 9, 2}); }

TEST(LibraryRows, ATurnedTableIsLeftToOthers) {
  const Tensor t = drawn({3, 5});
  expect_both_ways(t.viewed({5, 3}, {1, 5}), {4, 0}, false);
}

TEST(LibraryRows, ColumnsAreNoRows) {
  const Tensor table = drawn({5, 3}), places = Tensor::of<int64_t>({2}, {2, 0});
  const Value t = input("table", table), p = input("places", places);
  expect_same(formula::compute("columns", {5, 2}, [&](Expression i, Expression e) { return t(i, p(e)); }), {t, p},
              {table, places}, false);
}

}  // namespace
}  // namespace saltern
