// State of graphs: what a run leaves for the next one. It is written down, checked and run.

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/graph/executor.h"
#include "runtime/graph/graph_index.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/text.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

// total' = total + x;  y = total' * factor;  before' = total
Graph running_total() {
  Graph g;
  g.add_input("x", {2});
  for (const char *name : {"total", "factor", "before"}) g.values[name] = {{2}, Type::f32, {}};
  const std::string sum = g.add_node("add", {"total", "x"}, "sum", {2});
  g.outputs = {g.add_node("multiply", {sum, "factor"}, "y", {2})};
  const std::string old = g.add_node("reshape", {"total"}, "old", {2}, {{"shape", Shape{2}}});
  g.add_state("total", sum, Tensor::of<float>({2}, {1, 2}));
  g.add_state("factor", "factor", Tensor::of<float>({2}, {10, 100}));
  g.add_state("before", old, Tensor::of<float>({2}, {0, 0}));
  return g;
}

TEST(State, IsNotWhatCallersGiveOrAskFor) {
  const Graph g = running_total();
  validate(g);
  EXPECT_EQ(g.given(), std::vector<std::string>{"x"});
  EXPECT_EQ(g.asked(), std::vector<std::string>{"y"});
}

TEST(State, IsKeptFromRunToRun) {
  const Graph g = running_total();
  std::map<std::string, Tensor> state;
  const Tensor x = Tensor::of<float>({2}, {1, 1});
  EXPECT_EQ(run(g, {{"x", x}}, state).at("y").reals(), (std::vector<double>{20, 300}));
  EXPECT_EQ(run(g, {{"x", x}}, state).at("y").reals(), (std::vector<double>{30, 400}));
  EXPECT_EQ(state.at("total").reals(), (std::vector<double>{3, 4}));
  // What it was before the last run, although that wrote over it.
  EXPECT_EQ(state.at("before").reals(), (std::vector<double>{2, 3}));
  EXPECT_EQ(g.state[0].initial.reals(), (std::vector<double>{1, 2}));
}

TEST(State, IsWrittenInTheMemoryThatTheCallerHas) {
  const Tensor mine = Tensor::of<float>({2}, {5, 5});
  std::map<std::string, Tensor> state = {{"total", mine}, {"factor", Tensor::full({2}, 1)}};
  const std::map<std::string, Tensor> outputs = run(running_total(), {{"x", Tensor::full({2}, 2)}}, state);
  EXPECT_EQ(mine.reals(), (std::vector<double>{7, 7}));
  EXPECT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs.at("y").reals(), (std::vector<double>{7, 7}));
}

TEST(State, IsInputsAndOutputsToARunWithoutIt) {
  const std::map<std::string, Tensor> outputs = run(running_total(), {{"x", Tensor::full({2}, 1)}});
  EXPECT_EQ(outputs.at("sum").reals(), (std::vector<double>{2, 3}));
}

TEST(State, OfAnotherShapeIsNamed) {
  std::map<std::string, Tensor> state = {{"total", Tensor::zeros({3})}};
  EXPECT_TRUE(contains(error_of([&] { run(running_total(), {{"x", Tensor::zeros({2})}}, state); }), "'total'"));
}

TEST(State, ComesBackFromTextAndFile) {
  const Graph g = running_total();
  EXPECT_TRUE(contains(to_text(g), "state total -> sum = [1.0, 2.0]\nstate factor -> factor = [10.0, 100.0]\n"));
  for (int64_t largest_inside : {-1, 100}) {
    const GraphText written = text_of(g, largest_inside);
    EXPECT_TRUE(is_same(parse_graph(written.text, written.tensors, "test"), g)) << written.text;
  }
  const ScratchFolder folder;
  save_model(folder.file("total.safetensors"), g);
  EXPECT_TRUE(is_same(load_model(folder.file("total.safetensors")), g));
  Graph other = g;
  other.state[0].initial = Tensor::zeros({2});
  EXPECT_FALSE(is_same(other, g));
}

TEST(State, StaysWhereValuesAreRenamedAndRemoved) {
  Graph g = running_total();
  g.add_node("relu", {"x"}, "unread", {2});
  const std::string twice = g.add_node("add", {"total", "total"}, "twice", {2});
  std::rotate(g.nodes.begin(), g.nodes.end() - 1, g.nodes.end());
  g.replace_uses("sum", twice);
  g.remove_unused();
  validate(g);
  EXPECT_EQ(g.state[0].next, twice);
  EXPECT_EQ(g.producer("unread"), nullptr);
}

TEST(State, WhatIsWrongWithItIsNamed) {
  struct Case {
    void (*spoil)(Graph &);
    const char *expected;
  };
  for (const Case &c : std::vector<Case>{
           {[](Graph &g) { g.state.push_back(g.state[0]); }, "the state 'total' is listed twice"},
           {[](Graph &g) { g.inputs.erase(g.inputs.begin() + 1); }, "'total'"},
           {[](Graph &g) { g.outputs.erase(g.outputs.begin() + 1); }, "'sum', which the state 'total' becomes"},
           {[](Graph &g) { g.state[0].next = "old"; }, "'old' is the next value of two states"},
           {[](Graph &g) { g.state[0].next = "none"; }, "'none'"},
           {[](Graph &g) { g.state[0].initial = Tensor::zeros({3}); }, "begins as f32 [3]"},
           {[](Graph &g) { g.state[0].initial = {}; }, "begins as nothing"},
           {[](Graph &g) { g.values["sum"].type = Type::f64; }, "becomes f64 [2] ('sum')"},
       }) {
    Graph g = running_total();
    c.spoil(g);
    const std::string error = error_of([&] { validate(g); });
    EXPECT_TRUE(contains(error, c.expected)) << error;
  }
  EXPECT_TRUE(contains(error_of([] { validate_imported(running_total()); }), "has no state"));
  EXPECT_TRUE(
      contains(error_of([] { parse_graph("saltern graph 1\nstate s -> t = [1.0]\n", {}, "test"); }), "no input 's'"));
}

}  // namespace
}  // namespace saltern
