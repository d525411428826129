// The plain path computes what naive loops compute, and none of it with kernels.

#include "runtime/onnx/plain.h"

#include <gtest/gtest.h>

#include "runtime/graph/executor.h"
#include "tests/graph_builder.h"

namespace saltern {
namespace {

Graph net_with_everything() {
  GraphBuilder b({2, 4, 9, 7});
  std::string h = b.conv2d("x", {6, 3, 2, 1, 1, 2});
  h = b.apply("relu", {b.batch_norm(h)});
  const std::string p = b.pool("max_pool2d", h, 2, 1), q = b.pool("average_pool2d", h, 2, 1);
  h = b.apply("add", {p, q});
  h = b.dense(b.flatten(h), 5);
  return b.finish({b.apply("softmax", {h}, {{"axis", int64_t{-1}}})});
}

TEST(PlainPath, AgreesWithNaiveLoopsOnEveryValue) {
  Graph graph = net_with_everything();
  graph.outputs.clear();
  for (const Graph::Node &n : graph.nodes) graph.outputs.push_back(n.outputs[0]);
  const Tensor x = random_tensor({2, 4, 9, 7}, 5);
  const std::map<std::string, Tensor> plain = run_plainly(graph, {{"x", x}});
  const NaiveValues naive = run_naively(graph, {{"x", x}});
  for (const std::string &name : graph.outputs) {
    const std::vector<double> got = plain.at(name).reals(), &want = naive.at(name).data;
    ASSERT_EQ(got.size(), want.size()) << name;
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], want[i], 1e-6 * std::max(1.0, std::fabs(want[i]))) << name;
  }
}

TEST(PlainPath, HasEveryOperationOfANetAsAFormula) {
  const Graph graph = net_with_everything();
  for (const Graph::Node &n : graph.nodes) EXPECT_TRUE(has_plain_form(graph, n)) << n.operation;
}

// By ONNX's operator where the opset has it, and by the operators that it is made of.
TEST(PlainPath, NormsOfRowsAgreeWithTheirKernels) {
  GraphBuilder b({3, 2, 5});
  const Attributes a = {{"axis", int64_t{-2}}, {"epsilon", 1e-3}};
  const std::string scale = b.constant("scale", {2, 5}), shift = b.constant("shift", {2, 5});
  const std::string h = b.apply("layer_norm", {"x", scale, shift}, a);
  const Graph g = b.finish({h, b.apply("rms_norm", {h, scale}, a)});
  const Tensor x = random_tensor({3, 2, 5}, 5, 2, 5);
  const std::map<std::string, Tensor> plain = run_plainly(g, {{"x", x}}), kernels = run(g, {{"x", x}});
  for (const std::string &name : g.outputs) {
    const std::vector<double> got = kernels.at(name).reals(), want = plain.at(name).reals();
    ASSERT_EQ(got.size(), want.size()) << name;
    for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-5) << name;
  }
}

TEST(PlainPath, ATransposedConvolutionIsOneToo) {
  Graph g;
  g.add_input("dy", {1, 4, 3, 5});
  g.add_constant("w", random_tensor({4, 3, 3, 3}, 2));
  g.add_node("conv2d_gradient_x", {"w", "dy"}, "dx", {1, 6, 6, 10},
             {{"strides", Shape{2, 2}},
              {"pads", Shape{1, 1, 1, 1}},
              {"dilations", Shape{1, 1}},
              {"groups", int64_t{2}},
              {"shape", Shape{1, 6, 6, 10}}});
  g.outputs = {"dx"};
  ASSERT_TRUE(has_plain_form(g, g.nodes[0]));
  const std::map<std::string, Tensor> in = {{"dy", random_tensor({1, 4, 3, 5}, 7)}};
  const std::vector<double> plain = run_plainly(g, in).at("dx").reals(), kernel = run(g, in).at("dx").reals();
  for (size_t i = 0; i < plain.size(); ++i) ASSERT_NEAR(plain[i], kernel[i], 1e-5);
}

TEST(Executor, TellsOfEveryNodeWhenItIsDone) {
  const Graph graph = net_with_everything();
  std::vector<std::string> done;
  RunHooks hooks;
  hooks.done = [&](const Graph::Node &n) { done.push_back(n.outputs[0]); };
  run(graph, {{"x", random_tensor({2, 4, 9, 7}, 5)}}, hooks);
  ASSERT_EQ(done.size(), graph.nodes.size());
  for (size_t i = 0; i < done.size(); ++i) EXPECT_EQ(done[i], graph.nodes[i].outputs[0]);
}

}  // namespace
}  // namespace saltern
