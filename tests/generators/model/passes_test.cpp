// What the model compiler does to a graph before any kernel is compiled: passes keep its results, groups keep its
// order, and the memory plan keeps living values apart.

#include <gtest/gtest.h>

#include <set>

#include "algorithms/contraction.h"
#include "generators/model/emit.h"
#include "generators/model/geometry.h"
#include "generators/model/memory_plan.h"
#include "generators/model/passes/passes.h"
#include "generators/model/views.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/formula_node.h"
#include "runtime/graph/text.h"
#include "tests/graph_builder.h"

namespace saltern::generators {
namespace {

int count(const Graph &g, const std::string &operation) {
  int n = 0;
  for (const Graph::Node &node : g.nodes) n += node.operation == operation;
  return n;
}

void expect_equal_results(const Graph &before, const Graph &after) {
  validate(after);
  ASSERT_EQ(after.inputs, before.inputs);
  ASSERT_EQ(after.outputs, before.outputs);
  std::map<std::string, Tensor> inputs;
  for (const std::string &i : before.inputs) inputs[i] = random_tensor(before.value(i).shape, 5);
  const NaiveValues want = run_naively(before, inputs);
  const std::map<std::string, Tensor> got = run(after, inputs);  // it may have formulas, which the oracle does not know
  for (const std::string &o : before.outputs) {
    EXPECT_EQ(got.at(o).shape(), want.at(o).shape) << o;
    EXPECT_LE(relative_difference(got.at(o).reals(), want.at(o).data), 1e-5) << o << "\n" << to_text(after);
  }
}

TEST(Identities, GoAndOutputsKeepTheirNames) {
  GraphBuilder b({1, 2, 3, 4});
  const std::string h = b.apply("identity", {b.apply("relu", {b.apply("identity", {"x"})})});
  const std::string y = b.apply("identity", {b.apply("relu", {h})}), z = b.apply("identity", {h});
  const Graph g = b.finish({y, z}), after = without_identities(g);
  expect_equal_results(g, after);
  EXPECT_EQ(after.nodes.size(), 2u) << to_text(after);
}

TEST(FoldedConstants, AreComputedOnceAndOutputsStayNodes) {
  GraphBuilder b({2, 3});
  b.constant("c", {3, 2});
  const std::string turned = b.graph.add_node("reshape", {"c"}, "turned", {2, 3}, {{"shape", Shape{2, 3}}});
  const std::string twice = b.apply("add", {turned, turned});
  const Graph g = b.finish({b.apply("multiply", {"x", twice}), b.apply("relu", {turned})});
  const Graph after = with_folded_constants(g);
  expect_equal_results(g, after);
  EXPECT_EQ(after.nodes.size(), 2u) << to_text(after);
}

TEST(FoldedConstants, DoNotGrowTheWeights) {
  GraphBuilder b({1, 3});
  b.constant("row", {1, 4096});
  b.constant("column", {4096, 1});
  const std::string large = b.graph.add_node("add", {"row", "column"}, "large", {4096, 4096});
  const Graph g = b.finish({b.apply("relu", {large})});
  EXPECT_EQ(to_text(with_folded_constants(g)), to_text(g));
}

TEST(BatchNorm, GoesIntoTheWeightsBeforeIt) {
  for (const bool bias : {true, false}) {
    GraphBuilder b({2, 3, 5, 6});
    GraphBuilder::Conv conv = {7};
    conv.bias = bias;
    const std::string h = b.batch_norm(b.conv2d("x", conv));
    const Graph g = b.finish({b.batch_norm(b.dense(b.flatten(h), 4))}), after = with_folded_batch_norm(g);
    expect_equal_results(g, after);
    EXPECT_EQ(count(after, "batch_norm"), 0);
    EXPECT_EQ(after.nodes.size(), 3u);
  }
}

TEST(BatchNorm, LeavesWeightsAloneWhoseResultIsReadElsewhere) {
  GraphBuilder b({1, 3, 5, 6});
  const std::string h = b.conv2d("x", {4});
  const Graph g = b.finish({b.batch_norm(h), b.apply("relu", {h})}), folded = with_folded_batch_norm(g);
  EXPECT_EQ(to_text(folded), to_text(g));
  const Graph after = with_batch_norm_as_arithmetic(g);
  expect_equal_results(g, after);
  EXPECT_EQ(count(after, "batch_norm"), 0);
}

// y[t, n, o] = sum{i} x[t, n, i] w[o, i], or w the other way round.
Graph with_product(const std::string &text, const Shape &weights, bool are_constant) {
  GraphBuilder b({3, 4, 5});
  if (are_constant)
    b.constant("w", weights);
  else
    b.input("w", weights);
  const formula::Values in = {formula::input("x", {3, 4, 5}), formula::input("w", {weights.begin(), weights.end()})};
  const formula::Value y = algorithms::einsum(text, in[0], in[1]);
  const auto names = add_formulas(b.graph, formula::exact_formulas(in, {y}), {"x", "w"}, [](int) { return "y"; });
  return b.finish(names);
}

TEST(DenseProducts, FormulasOfRowsAndConstantWeightsAreLayers) {
  const Graph g = with_product("tni,oi->tno", {7, 5}, true), after = with_dense_products(g);
  validate(after);
  EXPECT_EQ(count(after, "dense"), 1);
  EXPECT_EQ(count(after, "formula"), 0);
  const std::map<std::string, Tensor> x = {{"x", random_tensor({3, 4, 5}, 5)}};
  const std::vector<double> want = run(g, x).at("y").reals(), got = run(after, x).at("y").reals();
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5);
}

TEST(DenseProducts, OthersStayFormulas) {
  EXPECT_EQ(count(with_dense_products(with_product("tni,oi->tno", {7, 5}, false)), "dense"), 0);  // not constant
  EXPECT_EQ(count(with_dense_products(with_product("tni,io->tno", {5, 7}, true)), "dense"), 0);   // lies otherwise
  EXPECT_EQ(count(with_dense_products(with_product("tni,ti->tn", {3, 5}, true)), "dense"), 0);    // of each t by itself
}

TEST(DenseOnImages, BecomesAConvolutionOfTheWholeImage) {
  GraphBuilder b({2, 3, 4, 5});
  const std::string image = b.conv2d("x", {3});  // its result has its channels innermost
  const std::string h = b.apply("sigmoid", {b.apply("relu", {b.dense(b.flatten(image), 6)})});
  const Graph g = b.finish({b.dense(h, 3), h}),
              after = with_dense_on_images(with_layouts(with_compilable_operations(g)));
  expect_equal_results(g, after);
  EXPECT_EQ(count(after, "conv2d"), 2);
  EXPECT_EQ(count(after, "dense"), 1);
  for (const Graph::Node &n : after.nodes) EXPECT_TRUE(n.operation != "reshape" || is_view(after, n)) << n.outputs[0];
}

TEST(Passes, TogetherKeepResults) {
  GraphBuilder b({1, 3, 8, 8});
  const std::string h = b.apply("relu", {b.batch_norm(b.conv2d("x", {8}))});
  const std::string sum = b.apply("add", {b.conv2d(h, {8}), h});
  const std::string pooled = b.pool("max_pool2d", b.batch_norm(sum), 2, 2);
  const Graph g =
      b.finish({b.apply("softmax", {b.dense(b.apply("identity", {b.flatten(pooled)}), 5)}, {{"axis", int64_t{-1}}})});
  expect_equal_results(g, prepared_for_inference(g));
}

// Whatever the groups are, each reads only what came before.
void expect_an_order_that_can_be_computed(const Graph &g, const std::vector<Group> &groups) {
  std::set<std::string> known(g.inputs.begin(), g.inputs.end());
  size_t nodes = 0;
  for (const auto &[name, v] : g.values)
    if (v.constant.defined()) known.insert(name);
  for (const Group &group : groups)
    for (const Graph::Node &n : group.nodes) {
      ++nodes;
      for (const std::string &i : n.inputs) EXPECT_TRUE(known.count(i)) << n.outputs[0] << " reads " << i;
      known.insert(n.outputs.begin(), n.outputs.end());
    }
  EXPECT_EQ(nodes, g.nodes.size());
}

TEST(Grouping, ElementwiseOperationsJoinWhatTheyFollow) {
  GraphBuilder b({1, 16, 8, 8});
  const std::string first = b.conv2d("x", {16}), second = b.conv2d("x", {16});
  const std::string shortcut = b.apply("relu", {b.conv2d("x", {16, 1, 1, 0})});
  const Graph g = with_compilable_operations(
      b.finish({b.apply("relu", {b.apply("add", {b.apply("add", {first, second}), shortcut})}), shortcut}));
  const std::vector<Group> groups = group_nodes(g);
  expect_an_order_that_can_be_computed(g, groups);
  EXPECT_EQ(groups.size(), 3u);
}

TEST(Grouping, AValueWithTwoReadersIsWritten) {
  GraphBuilder b({1, 16, 8, 8});
  const std::string h = b.conv2d("x", {16});
  const Graph g = with_compilable_operations(b.finish({b.apply("relu", {h}), b.apply("sigmoid", {h})}));
  const std::vector<Group> groups = group_nodes(g);
  expect_an_order_that_can_be_computed(g, groups);
  EXPECT_EQ(groups.size(), 3u);
}

TEST(MemoryPlan, LivingValuesNeverOverlap) {
  std::mt19937 rng(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> lives;
    const int n = 1 + static_cast<int>(rng() % 30);
    int64_t sum = 0;
    for (int i = 0; i < n; ++i) {
      const int first = static_cast<int>(rng() % 20);
      lives.push_back({"v" + std::to_string(i), static_cast<int64_t>(1 + rng() % 1000), first,
                       first + static_cast<int>(rng() % 5)});
      sum += (lives.back().bytes + 63) / 64 * 64;
    }
    const MemoryPlan plan = plan_memory(lives);
    ASSERT_EQ(plan.offsets.size(), lives.size());
    EXPECT_LE(plan.bytes, sum);
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(plan.offsets[i] % 64, 0);
      EXPECT_GE(plan.offsets[i], 0);
      EXPECT_LE(plan.offsets[i] + lives[i].bytes, plan.bytes);
      for (int j = 0; j < i; ++j) {
        const bool together = lives[i].first <= lives[j].last && lives[j].first <= lives[i].last;
        const bool apart =
            plan.offsets[i] + lives[i].bytes <= plan.offsets[j] || plan.offsets[j] + lives[j].bytes <= plan.offsets[i];
        EXPECT_TRUE(!together || apart) << i << " and " << j << " in round " << round;
      }
    }
  }
}

TEST(MemoryPlan, AChainNeedsTwoBuffers) {
  std::vector<Lifetime> chain;
  for (int i = 0; i < 10; ++i) chain.push_back({"v", 640, i, i + 1});
  EXPECT_EQ(plan_memory(chain).bytes, 1280);
}

TEST(PackedWeights, AreTheWeightsWithZerosPastTheLastChannel) {
  GraphBuilder b({1, 3, 5, 5});
  const Graph g = b.finish({b.conv2d("x", {18})});
  const Geometry geometry = geometry_of(g, g.nodes[0]);
  const Tensor w = g.value(g.nodes[0].inputs[1]).constant, packed = packed_weights(w, geometry);
  ASSERT_EQ(packed.shape(), (Shape{2, 3, 3, 3, panel}));
  for (int64_t o = 0; o < 2 * panel; ++o)
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t y = 0; y < 3; ++y)
        for (int64_t x = 0; x < 3; ++x)
          EXPECT_EQ(packed.at<float>({o / panel, y, x, i, o % panel}), o < 18 ? w.at<float>({o, i, y, x}) : 0);
}

}  // namespace
}  // namespace saltern::generators
