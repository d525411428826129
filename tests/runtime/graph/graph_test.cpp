// Graphs: their rules, and their text. Broken text gives an error that names the source, the line and the fault.

#include <gtest/gtest.h>

#include "runtime/graph/graph.h"
#include "runtime/graph/text.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

Graph small_graph() {
  Graph g;
  g.add_input("x", {1, 3, 8, 8});
  g.add_constant("conv.weight", Tensor::zeros({4, 3, 3, 3}));
  g.add_constant("conv.bias", Tensor::zeros({4}));
  const Attributes settings = {{"pads", std::vector<int64_t>{1, 1, 1, 1}},
                               {"slope", 0.1},
                               {"whole", 2.0},
                               {"groups", int64_t{1}},
                               {"mode", std::string("a \"quoted\\ word\nin two lines")}};
  g.add_node("conv2d", {"x", "conv.weight", "conv.bias"}, "h", {1, 4, 8, 8}, settings);
  g.outputs = {g.add_node("relu", {"h"}, "y-1", {1, 4, 8, 8})};
  return g;
}

std::map<std::string, Tensor> constants(const Graph &g) {
  std::map<std::string, Tensor> all;
  for (const auto &[name, v] : g.values)
    if (v.constant.defined()) all[name] = v.constant;
  return all;
}

TEST(GraphText, RoundTripKeepsEverything) {
  const Graph g = small_graph();
  const Graph back = parse_graph(to_text(g), constants(g), "test");
  EXPECT_EQ(to_text(back), to_text(g));
  ASSERT_EQ(back.nodes.size(), 2u);
  EXPECT_EQ(back.nodes[0].attributes, g.nodes[0].attributes);
  EXPECT_EQ(back.outputs, std::vector<std::string>{"y-1"});
}

TEST(GraphText, BrokenTextNamesTheLineAndTheFault) {
  struct Case {
    std::string text, expected;
  };
  const std::string head = "saltern graph 1\n";
  for (const Case &c : std::vector<Case>{
           {"", "empty"},
           {"graph 7\n", "line 1"},
           {head + "inputx f32 [1]\n", "line 2, column 1: expected size, input"},
           {head + "input x f33 [1]\n", "'f33' is not an element type"},
           {head + "input x f32 [1\n", "expected ']'"},
           {head + "input x f32 [-4]\noutput x\n", "extents of 0 or more"},
           {head + "input x f32 [65536, 65536]\noutput x\n", "2^31"},
           {head + "input x f32 [99999999999999999999]\n", "integer of 64 bits"},
           {head + "input x f32 [1] rest\n", "should end here"},
           {head + "input x f32 [1]\ninput x f32 [1]\n", "line 3"},
           {head + "input * f32 [1]\n", "expected a name"},
           {head + "input x f32 [1]\n", "no output"},
           {head + "input x f32 [1]\noutput z\n", "'z'"},
           {head + "constant w f32 [1]\noutput w\n", "no tensor for the constant 'w'"},
           {head + "input x f32 [1]\nnode relu(z) -> y f32 [1]\noutput y\n", "reads 'z'"},
           {head + "input x f32 [1]\nnode relu(y) -> y f32 [1]\noutput y\n", "reads 'y'"},
           {head + "input x f32 [1]\nnode relu(x) {a = } -> y f32 [1]\n", "line 3"},
           {head + "input x f32 [1]\nnode relu(x) {a = \"open} -> y f32 [1]\n", "line 3"},
           {head + "input x f32 [1]\nnode relu(x) {a = 1, a = 2} -> y f32 [1]\n", "given twice"},
           {head + "input x f32 [1]\nnode relu(x)\n", "expected '->'"},
           {head + std::string("in\0put", 6) + "\n", "line 2"},
       }) {
    const std::string got = error_of([&] { parse_graph(c.text, {}, "model.salt"); });
    EXPECT_NE(got.find(c.expected), std::string::npos) << "for:\n" << c.text << "\ngot: " << got;
    EXPECT_EQ(got.find("model.salt"), 0u) << got;
  }
}

TEST(GraphText, EveryPrefixGivesAGraphOrAnError) {
  const Graph g = small_graph();
  const std::string text = to_text(g);
  for (size_t n = 0; n + 1 < text.size(); ++n)
    EXPECT_THROW(parse_graph(text.substr(0, n), constants(g), "test"), Error) << text.substr(0, n);
}

TEST(Graph, ValidateFindsAConstantOfAnotherShape) {
  Graph g = small_graph();
  g.values["conv.bias"].shape = {5};
  EXPECT_TRUE(contains(error_of([&] { validate(g); }), "conv.bias"));
}

TEST(Graph, RemoveUnusedKeepsWhatOutputsNeed) {
  Graph g = small_graph();
  g.add_constant("stray", Tensor::zeros({2}));
  g.add_node("relu", {"x"}, "unread", {1, 3, 8, 8});
  g.remove_unused();
  EXPECT_EQ(to_text(g), to_text(small_graph()));
}

TEST(Graph, FreshNamesAreNotTaken) {
  const Graph g = small_graph();
  EXPECT_EQ(g.fresh_name("z"), "z");
  EXPECT_EQ(g.values.count(g.fresh_name("h")), 0u);
}

TEST(Graph, FreshNamesCountUpWithoutLookingAtEveryOne) {
  Graph g;
  for (int i = 0; i < 20000; ++i) {  // looking at every one, that would be 200 million names
    const std::string name = g.fresh_name("v");
    ASSERT_EQ(name, i == 0 ? "v" : "v_" + std::to_string(i));
    g.values[name] = {};
  }
}

}  // namespace
}  // namespace saltern
