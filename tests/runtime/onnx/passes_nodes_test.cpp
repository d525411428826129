// Nodes that are there twice, nodes that nobody needs, and all passes together.

#include "tests/imported_model.h"

namespace saltern {
namespace {

TEST(CommonNodes, AreOne) {
  expect_pass(with_common_nodes_once,
              "input x f32 [2]\nnode Neg(x) -> a\nnode Neg(x) -> b\nnode Exp(a) -> c\nnode Exp(b) -> d\n"
              "node Add(c, d) -> y\noutput y\n",
              "input x f32 [2]\nnode Neg(x) -> a\nnode Exp(a) -> c\nnode Add(c, c) -> y\noutput y\n");
}

TEST(CommonNodes, OtherAttributesRandomNumbersAndOutputsAreNot) {
  expect_no_change(with_common_nodes_once,
                   "input x f32 [2]\nnode Elu(x) {alpha = 1.0} -> a\nnode Elu(x) {alpha = 2.0} -> b\n"
                   "node Add(a, b) -> y\noutput y\n");
  expect_no_change(with_common_nodes_once, "input x f32 [2]\nnode Neg(x) -> y\nnode Neg(x) -> z\noutput y\noutput z\n");
  const Model m = model_of(
      "node RandomNormal() {shape = [9]} -> a\nnode RandomNormal() {shape = [9]} -> b\nnode Sub(a, b) -> y\noutput "
      "y\n");
  EXPECT_TRUE(is_same(with_common_nodes_once(m, infer_shapes(m)).graph, m.graph));
}

TEST(DeadCode, IsGoneAndItsConstantsToo) {
  expect_pass(without_dead_code,
              "input x f32 [2]\ninput unread f32 [2]\nconstant c f32 [1] = [1.0]\nnode Add(x, c) -> a\n"
              "node Neg(a) -> b\nnode Abs(x) -> y\noutput y\n",
              "input x f32 [2]\ninput unread f32 [2]\nnode Abs(x) -> y\noutput y\n");
}

TEST(ConstantInputs, AreConstantsInOldFilesAndDefaultsInNewOnes) {
  Model m = model_of("input x f32 [2]\ninput c f32 [] = [2.0]\nnode Mul(x, c) -> y\noutput y\n");
  EXPECT_TRUE(is_same(without_constant_inputs(m).graph, m.graph));
  m.ir_version = 3;
  EXPECT_EQ(to_text(without_constant_inputs(m).graph),
            "saltern graph 1\ninput x f32 [2]\nconstant c f32 [] = [2.0]\nnode Mul(x, c) -> y\noutput y\n");
}

TEST(Optimized, EveryPassLeavesAValidGraph) {
  const Model m = model_of(
      "input x f32 [n, 2, 3, 3]\nconstant w f32 [2, 2, 1, 1] = [1.0, 2.0, 3.0, 4.0]\nconstant one f32 [] = [1.0]\n"
      "node Identity(x) -> same\nnode Conv(same, w) -> a\nnode Mul(a, one) -> b\nnode Add(b, one) -> c\n"
      "node Neg(c) -> d\nnode Neg(d) -> e\nnode Relu(e) -> f\nnode Relu(c) -> g\nnode Add(f, g) -> y\noutput y\n");
  for (const ModelPass &pass : model_passes()) {
    const Model made = pass.run(m, infer_shapes(m));
    EXPECT_NO_THROW(validate_imported(made.graph)) << pass.name;
    expect_same_results(m, made);
  }
  const Model made = optimized(m);
  EXPECT_EQ(made.graph.nodes.size(), 3u) << to_text(made.graph);  // Conv, Relu, Add
  expect_same_results(m, made);
}

// What was known of a value that is gone is not taken for that of a new one.
TEST(Optimized, NewValuesDoNotTakeNamesThatWereKnown) {
  const Model m = model_of(
      "input x f32 [n, 2, 3]\nconstant to i64 [2] = [-1, 6]\nnode Identity(x) -> b.shape\n"
      "node Flatten(b.shape) {axis = 2} -> b\nnode Reshape(b, to) -> c\nnode Relu(c) -> y\noutput y\n");
  const Inferred known = infer_shapes(m);
  const Model without = without_identities(m, known), made = with_merged_pairs(without, known);
  EXPECT_EQ(made.graph.values.count("b.shape"), 0u) << to_text(made.graph);
  EXPECT_TRUE(known.covers(without.graph));
  expect_same_results(m, made);
}

}  // namespace
}  // namespace saltern
