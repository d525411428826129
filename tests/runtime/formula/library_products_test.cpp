// Products among formulas by the library's kernel, beside the interpreter.

#include "runtime/formula/library_products.h"

#include <gtest/gtest.h>

#include "algorithms/contraction.h"
#include "runtime/formula/evaluate_values.h"
#include "runtime/layers/matmul.h"
#include "runtime/tensor/random.h"

namespace saltern {
namespace {

using formula::Value;
using formula::Values;

Tensor drawn(const Shape &shape) {
  static Random random(5);
  return random.uniform_tensor(shape, -1, 1);
}

formula::ExactFormula formula_of(const Value &y, const Values &inputs) {
  const formula::ExactFormulas all = formula::exact_formulas(inputs, {y});
  EXPECT_EQ(all.stages.size(), 1);
  return all.stages.at(0);
}

Value input(const char *name, const Tensor &t) {
  return formula::input(name, {t.shape().begin(), t.shape().end()}, t.type());
}

// "bij,jk->bik", and whether the library has it.
void expect_product(const std::string &text, const Tensor &a, const Tensor &b, bool is_in_library) {
  SCOPED_TRACE(text);
  const Value x = input("a", a), y = input("b", b);
  const formula::ExactFormula f = formula_of(algorithms::einsum(text, x, y), {x, y});
  std::vector<Tensor> operands;
  for (int o : f.operands) operands.push_back(o == 0 ? a : b);
  const std::optional<Tensor> got = library_product(f, operands);
  ASSERT_EQ(got.has_value(), is_in_library);
  if (!got) return;
  const Tensor want = evaluate(f, operands);
  ASSERT_EQ(got->shape(), want.shape());
  const std::vector<double> p = got->reals(), q = want.reals();
  for (size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(p[i], q[i], 2e-6);
}

TEST(LibraryProducts, MatricesEitherWayRoundAndInBatches) {
  expect_product("ik,kj->ij", drawn({5, 7}), drawn({7, 9}), true);
  expect_product("ik,jk->ij", drawn({5, 7}), drawn({9, 7}), true);
  expect_product("ki,kj->ji", drawn({7, 5}), drawn({7, 9}), true);
  expect_product("ik,kj->ij", turned(drawn({7, 5})), turned(drawn({9, 7})), true);
  expect_product("bik,bkj->bij", drawn({3, 5, 7}), drawn({3, 7, 9}), true);
  expect_product("bik,jk->bij", drawn({3, 5, 7}), drawn({9, 7}), true);
  expect_product("tni,tnj->ij", drawn({3, 4, 5}), drawn({3, 4, 9}), true);
  expect_product("ik,k->i", drawn({5, 7}), drawn({7}), true);
}

TEST(LibraryProducts, WhatLiesOtherwiseIsLeftToTheInterpreter) {
  expect_product("bi,bi->b", drawn({5, 7}), drawn({5, 7}), false);           // rows by themselves
  expect_product("ik,j->ij", drawn({5, 7}), drawn({9}), false);              // a sum of one operand alone
  expect_product("kil,lkj->ij", drawn({2, 5, 3}), drawn({3, 2, 9}), false);  // summed in two orders
  expect_product("ik,kj->ij", drawn({5, 1}), drawn({1, 9}), false);          // one step is none
}

TEST(LibraryProducts, AreOfRealNumbersOf32Bits) {
  const Value x = formula::input("x", {5, 7}, Type::f64), w = formula::input("w", {9, 7}, Type::f64);
  const formula::ExactFormula f = formula_of(algorithms::dense(x, w), {x, w});
  EXPECT_FALSE(library_product(f, {Tensor::zeros({9, 7}, Type::f64), Tensor::zeros({5, 7}, Type::f64)}));
}

}  // namespace
}  // namespace saltern
