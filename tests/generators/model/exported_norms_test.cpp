// Norms as exporters write them down are one formula, and so is what only looks like one.

#include "generators/model/passes/passes.h"
#include "runtime/onnx/lower_model.h"
#include "tests/compiled_graph.h"
#include "tests/imported_model.h"

namespace saltern::generators {
namespace {

const std::string constants =
    "constant two f32 [] = [2.0]\nconstant half f32 [] = [0.5]\nconstant one f32 [] = [1.0]\n"
    "constant e f32 [1] = [1e-12]\nconstant last i64 [1] = [-1]\nconstant scale f32 [4] = [1.0, -2.0, 0.5, 3.0]\n"
    "constant shift f32 [1, 1, 4] = [0.5, 0.0, 1.0, 2.0]\n";
const std::string centred = "node ReduceMean(x, last) -> m\nnode Sub(x, m) -> d\n";
const std::string variance =
    "node Pow(d, two) -> q\nnode ReduceMean(q, last) -> v\nnode Add(v, e) -> w\nnode Sqrt(w) -> r\n";

Graph lowered(const std::string &nodes, const std::string &outputs = "output y\n") {
  return without_identities(lower_model(model_of("input x f32 [2, 3, 4]\n" + constants + nodes + outputs, 18)));
}

// How many kernels are left of a graph, which gives the same results.
size_t kernels_of(const Graph &g) {
  const Graph after = with_fused_statistics(with_fused_formulas(g));
  expect_same_results(after, g);
  expect_right_when_compiled(g);
  return after.nodes.size();
}

TEST(ExportedNorms, AreOneFormulaWithTheirParameters) {
  EXPECT_EQ(kernels_of(lowered(centred + variance +
                               "node Div(d, r) -> h\nnode Mul(scale, h) -> s\nnode Add(s, shift) -> y\n")),
            1u);
  EXPECT_EQ(kernels_of(lowered(centred + variance + "node Div(d, r) -> y\n")), 1u);
}

TEST(ExportedNorms, ByReciprocalsAndPowers) {
  const std::string squares = centred + "node Mul(d, d) -> q\nnode ReduceMean(q, last) -> v\nnode Add(e, v) -> w\n";
  for (const char *inverse :
       {"node Sqrt(w) -> r\nnode Reciprocal(r) -> i\n", "node Sqrt(w) -> r\nnode Div(one, r) -> i\n",
        "node Pow(w, half) -> r\nnode Reciprocal(r) -> i\n"})
    EXPECT_EQ(kernels_of(lowered(squares + inverse + "node Mul(i, d) -> y\n")), 1u) << inverse;
}

TEST(ExportedNorms, OverSeveralDimensions) {
  const std::string both = "constant both i64 [2] = [1, 2]\n";
  EXPECT_EQ(kernels_of(lowered(both + "node ReduceMean(x, both) -> m\nnode Sub(x, m) -> d\nnode Mul(d, d) -> q\n"
                                      "node ReduceMean(q, both) -> v\nnode Add(v, e) -> w\nnode Sqrt(w) -> r\n"
                                      "node Div(d, r) -> y\n")),
            1u);
}

TEST(ExportedNorms, OfSquares) {
  const std::string root =
      "node Pow(x, two) -> q\nnode ReduceMean(q, last) -> v\nnode Add(v, e) -> w\nnode Sqrt(w) -> r\n";
  EXPECT_EQ(kernels_of(lowered(root + "node Reciprocal(r) -> i\nnode Mul(x, i) -> h\nnode Mul(scale, h) -> y\n")), 1u);
  EXPECT_EQ(kernels_of(lowered(root + "node Div(x, r) -> h\nnode Add(h, shift) -> y\n")), 1u);
}

TEST(ExportedNorms, WhatIsReadElsewhereStays) {
  const std::string whole = centred + variance + "node Div(d, r) -> y\n";
  for (const char *other : {"output v\n", "output r\n", "output m\n", "output d\n"})
    EXPECT_GT(kernels_of(lowered(whole, "output y\n" + std::string(other))), 1u) << other;
}

// Means over the first dimension, of another value, of a fourth power; a deviation of another value.
TEST(ExportedNorms, OthersAreRightToo) {
  const std::string first = "constant first i64 [1] = [0]\n", end = "node Div(d, r) -> y\n";
  for (const std::string &nodes :
       {first +
            "node ReduceMean(x, first) -> m\nnode Sub(x, m) -> d\nnode Mul(d, d) -> q\n"
            "node ReduceMean(q, first) -> v\nnode Add(v, e) -> w\nnode Sqrt(w) -> r\n" +
            end,
        centred +
            "constant four f32 [] = [4.0]\nnode Pow(d, four) -> q\nnode ReduceMean(q, last) -> v\n"
            "node Add(v, e) -> w\nnode Sqrt(w) -> r\n" +
            end,
        "node Abs(x) -> a\nnode ReduceMean(a, last) -> m\nnode Sub(x, m) -> d\n" + variance + end,
        centred + variance + "node Div(x, r) -> y\n"})
    EXPECT_LE(kernels_of(lowered(nodes)), 1u) << nodes;
}

}  // namespace
}  // namespace saltern::generators
