// Compiled gradients that scatter: those of what reads elsewhere than data says.

#include "runtime/graph/gradients.h"
#include "runtime/onnx/lower_model.h"
#include "tests/compiled_graph.h"
#include "tests/imported_model.h"

namespace saltern {
namespace {

int scatters_in(const Graph &g) {
  return static_cast<int>(
      std::count_if(g.nodes.begin(), g.nodes.end(), [](const Graph::Node &n) { return n.operation == "scatter_sum"; }));
}

// A model's gradients with respect to `wanted`, compiled, on one thread and on several, beside the executor's.
void expect_compiled_gradients(const std::string &lines, const std::vector<std::string> &wanted, int least_scatters) {
  SCOPED_TRACE(lines);
  const Graph g = with_gradients(lower_model(optimized(model_of(lines)), {}), "y", wanted);
  EXPECT_GE(scatters_in(g), least_scatters);
  expect_right_when_compiled(g);
}

// Inputs of tests are real; those from -1 to 1 are places in 22 rows, some of them twice.
const std::string places =
    "input p f32 [2, 19]\nconstant rows f32 [] = [11.0]\nnode Mul(p, rows) -> q\n"
    "node Cast(q) {to = 7} -> i\n";

TEST(CompiledScatter, EmbeddingsOfAwkwardSizes) {
  for (const char *columns : {"1", "3", "16", "37", "200"})
    expect_compiled_gradients(
        places + "input w f32 [22, " + columns + "]\nnode Gather(w, i) -> e\n" + "node Tanh(e) -> y\noutput y\n", {"w"},
        1);
}

TEST(CompiledScatter, GathersAlongEachAxis) {
  const char *shapes[] = {"[22, 3, 5]", "[3, 22, 5]", "[3, 5, 22]"};
  for (int axis : {0, 1, 2})
    expect_compiled_gradients(places + "input w f32 " + shapes[axis] + "\nnode Gather(w, i) {axis = " +
                                  std::to_string(axis) + "} -> e\nnode Mul(e, e) -> y\noutput y\n",
                              {"w"}, 1);
  expect_compiled_gradients(places + "input w f32 [22, 19]\nnode GatherElements(w, i) -> y\noutput y\n", {"w"}, 1);
}

TEST(CompiledScatter, WhatIsResizedAndSampled) {
  expect_compiled_gradients(
      "input x f32 [1, 3, 5, 7]\nconstant scales f32 [4] = [1.0, 1.0, 1.6, 0.7]\n"
      "node Resize(x, \"\", scales) {mode = \"linear\"} -> y\noutput y\n",
      {"x"}, 0);
  expect_compiled_gradients(
      "input x f32 [2, 3, 5, 7]\ninput grid f32 [2, 4, 6, 2]\nnode GridSample(x, grid) -> y\noutput y\n", {"x", "grid"},
      1);
}

// Images lie with their channels innermost beside convolutions and pools.
TEST(CompiledScatter, ImagesWithChannelsInnermost) {
  expect_compiled_gradients(
      "input x f32 [2, 3, 8, 9]\ninput w f32 [5, 3, 3, 3]\ninput grid f32 [2, 4, 6, 2]\n"
      "node Conv(x, w) -> c\nnode GridSample(c, grid) -> s\nnode Relu(s) -> y\noutput y\n",
      {"x", "w", "grid"}, 1);
  expect_compiled_gradients(
      "input x f32 [2, 3, 8, 9]\nnode MaxPool(x) {kernel_shape = [3, 2], strides = [2, 1]} -> y\noutput y\n", {"x"}, 0);
}

TEST(CompiledScatter, OfTypesAndOfGradients) {
  expect_compiled_gradients(places + "input w f32 [22, 9]\nnode Cast(w) {to = 11} -> d\nnode Gather(d, i) -> e\n" +
                                "node Cast(e) {to = 1} -> y\noutput y\n",
                            {"w"}, 1);
  const Graph once = with_gradients(
      lower_model(
          optimized(model_of(places + "input w f32 [22, 9]\nnode Gather(w, i) -> e\nnode Mul(e, e) -> y\noutput y\n")),
          {}),
      "y", {"w"});
  expect_right_when_compiled(with_gradients(once, "d_w", {"w", "d_y"}));
}

TEST(CompiledScatter, OfNothingIsZeros) {
  Graph g;
  g.add_input("x", {4, 3});
  Attributes a = {{"element", formula::constant(Type::f32, 1)}, {"space", Shape{1, 3, 0}}};
  a.set("target0", formula::axis(2));
  g.outputs = {g.add_node("scatter_sum", {"x"}, "y", {4, 3}, a)};
  expect_right_when_compiled(g);
}

// ---- Scans.

TEST(CompiledScan, RunningSumsAlongEachAxisOfAwkwardSizes) {
  for (const char *shape : {"[1, 1, 1, 1]", "[2, 3, 5, 7]", "[3, 16, 1, 37]", "[1, 2, 33, 200]"})
    for (int axis : {0, 1, 2, 3}) {
      const std::string lines = std::string("input x f32 ") + shape + "\nconstant axis i64 [] = [" +
                                std::to_string(axis) + "]\nnode CumSum(x, axis) -> y\noutput y\n";
      SCOPED_TRACE(lines);
      const Graph g = lower_model(optimized(model_of(lines)), {});
      EXPECT_EQ(operations_of(g), g.value("x").shape[static_cast<size_t>(axis)] > 1 ? "scan" : "formula");
      expect_right_when_compiled(g);
    }
}

TEST(CompiledScan, EachWayWithGradientsAndBesideImages) {
  for (const char *how : {"{exclusive = 1}", "{reverse = 1}", "{exclusive = 1, reverse = 1}"})
    expect_compiled_gradients(std::string("input x f32 [3, 19, 5]\nconstant axis i64 [] = [1]\nnode Tanh(x) -> t\n") +
                                  "node CumSum(t, axis) " + how + " -> s\nnode Mul(s, x) -> y\noutput y\n",
                              {"x"}, 0);
  expect_compiled_gradients(
      "input x f32 [2, 3, 8, 9]\ninput w f32 [5, 3, 3, 3]\nconstant axis i64 [] = [1]\n"
      "node Conv(x, w) -> c\nnode CumSum(c, axis) -> s\nnode Relu(s) -> y\noutput y\n",
      {"x", "w"}, 0);
}

TEST(CompiledScan, OfIntegersAndSmallFloats) {
  for (int type : {6, 7, 10, 11, 16})
    expect_right_when_compiled(lower_model(
        optimized(model_of("input x f32 [3, 21]\nconstant eight f32 [] = [8.0]\nconstant axis i64 [] = [1]\n"
                           "node Mul(x, eight) -> e\nnode Cast(e) {to = " +
                           std::to_string(type) +
                           "} -> c\nnode CumSum(c, axis) -> s\nnode Cast(s) {to = 1} -> y\noutput y\n")),
        {}));
}

// A graph that says itself what it carries is saved, read and compiled.
TEST(CompiledScan, OfAText) {
  const std::string text =
      "saltern graph 1\ninput x f32 [4, 6]\ninput h f32 [4]\n"
      "node scan(x, h) {along = 1, before = formula \"x1.f32[a0]\", element = formula "
      "\"add(multiply(carried.f32, f32 0.5), x0.f32[a0, a1])\"} -> y f32 [4, 6]\noutput y\n";
  const Graph g = parse_graph(text, {}, "test");
  EXPECT_EQ(to_text(g), text);
  expect_right_when_compiled(g);
  const std::vector<double> x = random_inputs(g).at("x").reals(), h = random_inputs(g).at("h").reals(),
                            y = run(g, random_inputs(g)).at("y").reals();
  for (size_t row = 0; row < 4; ++row) {
    double state = h[row];
    for (size_t t = 0; t < 6; ++t) {
      state = state / 2 + x[row * 6 + t];
      EXPECT_NEAR(y[row * 6 + t], state, 1e-6);
    }
  }
}

}  // namespace
}  // namespace saltern
