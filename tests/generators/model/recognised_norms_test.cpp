// Norms as exporters write them down are one operation; what only looks like one stays as it is.

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

// All operations of the graph that the pass makes, which gives the same results.
std::string recognised(const Graph &g) {
  const Graph after = with_recognised_norms(g);
  expect_same_results(after, g);
  return operations_of(after);
}

TEST(RecognisedNorms, OfALayerWithItsParameters) {
  const Graph g =
      lowered(centred + variance + "node Div(d, r) -> h\nnode Mul(scale, h) -> s\nnode Add(s, shift) -> y\n");
  EXPECT_EQ(recognised(g), "layer_norm");
  const Graph after = with_recognised_norms(g);
  EXPECT_EQ(after.nodes[0].attributes.integer("axis"), 2);
  EXPECT_FLOAT_EQ(static_cast<float>(after.nodes[0].attributes.real("epsilon")), 1e-12f);
  expect_right_when_compiled(g);
}

TEST(RecognisedNorms, WithoutParametersOrWithOneOfThem) {
  EXPECT_EQ(recognised(lowered(centred + variance + "node Div(d, r) -> y\n")), "layer_norm");
  EXPECT_EQ(recognised(lowered(centred + variance + "node Div(d, r) -> h\nnode Mul(h, scale) -> y\n")), "layer_norm");
  EXPECT_EQ(recognised(lowered(centred + variance + "node Div(d, r) -> h\nnode Add(h, shift) -> y\n")), "layer_norm");
}

TEST(RecognisedNorms, ByReciprocalsAndPowers) {
  const std::string squares = centred + "node Mul(d, d) -> q\nnode ReduceMean(q, last) -> v\nnode Add(e, v) -> w\n";
  for (const char *inverse :
       {"node Sqrt(w) -> r\nnode Reciprocal(r) -> i\n", "node Sqrt(w) -> r\nnode Div(one, r) -> i\n",
        "node Pow(w, half) -> r\nnode Reciprocal(r) -> i\n"})
    EXPECT_EQ(recognised(lowered(squares + inverse + "node Mul(i, d) -> y\n")), "layer_norm") << inverse;
}

TEST(RecognisedNorms, OverSeveralDimensions) {
  const std::string both = "constant both i64 [2] = [1, 2]\n";
  EXPECT_EQ(recognised(lowered(both + "node ReduceMean(x, both) -> m\nnode Sub(x, m) -> d\nnode Mul(d, d) -> q\n"
                                      "node ReduceMean(q, both) -> v\nnode Add(v, e) -> w\nnode Sqrt(w) -> r\n"
                                      "node Div(d, r) -> y\n")),
            "layer_norm");
}

TEST(RecognisedNorms, OfSquares) {
  const std::string root =
      "node Pow(x, two) -> q\nnode ReduceMean(q, last) -> v\nnode Add(v, e) -> w\nnode Sqrt(w) -> r\n";
  const Graph g = lowered(root + "node Reciprocal(r) -> i\nnode Mul(x, i) -> h\nnode Mul(scale, h) -> y\n");
  EXPECT_EQ(recognised(g), "rms_norm");
  expect_right_when_compiled(g);
  // It has no shift: that is added after it.
  EXPECT_EQ(recognised(lowered(root + "node Div(x, r) -> h\nnode Add(h, shift) -> y\n")), "rms_norm formula");
}

TEST(RecognisedNorms, ThatAreReadElsewhereStay) {
  const std::string whole = centred + variance + "node Div(d, r) -> y\n";
  for (const char *other : {"output v\n", "output r\n"})
    EXPECT_EQ(recognised(lowered(whole, "output y\n" + std::string(other))).find("norm"), std::string::npos) << other;
  // The difference is computed anyway.
  for (const char *other : {"output m\n", "output d\n"})
    EXPECT_EQ(recognised(lowered(whole, "output y\n" + std::string(other))), "formula formula rms_norm") << other;
  // What is normalised may be; then the parameters stay outside.
  EXPECT_EQ(recognised(
                lowered(centred + variance + "node Div(d, r) -> h\nnode Mul(h, scale) -> y\n", "output y\noutput h\n")),
            "layer_norm formula");
}

TEST(RecognisedNorms, OthersStay) {
  const auto stays = [](const std::string &nodes) {
    EXPECT_EQ(recognised(lowered(nodes)).find("norm"), std::string::npos) << nodes;
  };
  // Means over the first dimension, of another value, of a fourth power; a deviation of another value.
  const std::string first = "constant first i64 [1] = [0]\n", end = "node Div(d, r) -> y\n";
  stays(first +
        "node ReduceMean(x, first) -> m\nnode Sub(x, m) -> d\nnode Mul(d, d) -> q\n"
        "node ReduceMean(q, first) -> v\nnode Add(v, e) -> w\nnode Sqrt(w) -> r\n" +
        end);
  stays(centred +
        "constant four f32 [] = [4.0]\nnode Pow(d, four) -> q\nnode ReduceMean(q, last) -> v\n"
        "node Add(v, e) -> w\nnode Sqrt(w) -> r\n" +
        end);
  stays(centred + variance + "node Div(x, r) -> y\n");
}

TEST(RecognisedNorms, OfDifferencesFromAnotherMeanAreOfSquares) {
  EXPECT_EQ(recognised(lowered("node Abs(x) -> a\nnode ReduceMean(a, last) -> m\nnode Sub(x, m) -> d\n" + variance +
                               "node Div(d, r) -> y\n")),
            "formula formula formula rms_norm");
}

}  // namespace
}  // namespace saltern::generators
