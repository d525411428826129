// Nodes that pass their input on are gone; those that only nearly do are not.

#include "tests/imported_model.h"

namespace saltern {
namespace {

// "node X(x, c) -> a" between x and Abs.
std::string around(const std::string &declarations, const std::string &node) {
  return "input x f32 [n, 3]\n" + declarations + node + " -> a\nnode Abs(a) -> y\noutput y\n";
}
const std::string gone = "input x f32 [n, 3]\nnode Abs(x) -> y\noutput y\n";
const std::string zero = "constant c f32 [] = [0.0]\n", negative_zero = "constant c f32 [] = [-0.0]\n",
                  one = "constant c f32 [1, 3] = [1.0, 1.0, 1.0]\n";

TEST(Identities, WhatChangesNothingIsGone) {
  expect_pass(without_identities, around("", "node Identity(x)"), gone);
  expect_pass(without_identities, around("", "node Dropout(x)"), gone);
  expect_pass(without_identities, around("", "node Transpose(x) {perm = [0, 1]}"), gone);
  expect_pass(without_identities, around("", "node Concat(x) {axis = 1}"), gone);
  expect_pass(without_identities, around("", "node Sum(x)"), gone);
  expect_pass(without_identities, around("", "node Cast(x) {to = 1}"), gone);
  expect_pass(without_identities, around(zero, "node Sub(x, c)"), gone);
  for (const char *node : {"node Add(x, c)", "node Add(c, x)"})
    expect_pass(without_identities, around(negative_zero, node), gone);
  for (const char *node : {"node Mul(x, c)", "node Mul(c, x)", "node Div(x, c)", "node Pow(x, c)"})
    expect_pass(without_identities, around(one, node), gone);
  expect_pass(without_identities, around("constant c i64 [4] = [0, 0, 0, 0]\n", "node Pad(x, c)"), gone);
  expect_pass(without_identities, around("constant c i64 [2] = [1, 3]\n", "node Expand(x, c)"), gone);
  expect_pass(without_identities, around("constant c i64 [2] = [-1, 3]\n", "node Reshape(x, c)"), gone);
  expect_pass(without_identities,
              around("constant c i64 [1] = [0]\nconstant d i64 [1] = [100]\nconstant e i64 [1] = [1]\n",
                     "node Slice(x, c, d, e)"),
              gone);
}

TEST(Identities, WhatChangesSomethingStays) {
  // -0 + 0 is 0, and so is -0 - -0.
  for (const char *node : {"node Sub(c, x)", "node Mul(x, c)", "node Add(x, c)", "node Add(c, x)"})
    expect_no_change(without_identities, around(zero, node));
  expect_no_change(without_identities, around(negative_zero, "node Sub(x, c)"));
  for (const char *node : {"node Div(c, x)", "node Add(x, c)", "node Pow(c, x)"})
    expect_no_change(without_identities, around(one, node));
  // The constant makes the result larger.
  expect_no_change(
      without_identities,
      "input x f32 [1]\nconstant c f32 [2] = [0.0, 0.0]\nnode Add(x, c) -> a\nnode Abs(a) -> y\noutput y\n");
  expect_no_change(without_identities,
                   around("constant b i64 [1] = [-1]\nconstant d i64 [1] = [1]\nconstant e i64 [1] = [-10]\n"
                          "constant s i64 [1] = [-1]\n",
                          "node Slice(x, b, e, d, s)"));
  expect_no_change(without_identities, "input x f32 [2]\nnode Identity(x) -> y\noutput y\n");
}

TEST(Identities, WhatAnInnerGraphReadsKeepsItsName) {
  expect_no_change(without_identities,
                   "input x f32 [2]\ninput c bool []\nnode Identity(x) -> a\ngraph graph1\n  node Neg(a) -> p\n"
                   "  output p\nend\ngraph graph2\n  node Abs(a) -> q\n  output q\nend\n"
                   "node If(c) {else_branch = graph graph1, then_branch = graph graph2} -> y\noutput y\n");
}

}  // namespace
}  // namespace saltern
