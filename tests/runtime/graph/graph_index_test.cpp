// The index answers as the graph does, before and after changes.

#include "runtime/graph/graph_index.h"

#include <gtest/gtest.h>

#include <random>

namespace saltern {
namespace {

Graph random_graph(unsigned seed) {
  std::mt19937 rng(seed);
  Graph g;
  std::vector<std::string> values = {"x"};
  g.add_input("x", {2});
  for (int n = 0; n < 40; ++n) {
    std::vector<std::string> from;
    for (unsigned i = 0; i < 1 + rng() % 3; ++i) from.push_back(values[rng() % values.size()]);
    values.push_back(g.add_node("add", from, "v", {2}));
  }
  g.outputs = {values[rng() % values.size()], values.back()};
  return g;
}

void expect_same_answers(const Graph &g, const GraphIndex &index) {
  for (const auto &[name, v] : g.values) {
    EXPECT_EQ(index.producer(name), g.producer(name)) << name;
    EXPECT_EQ(index.uses(name), g.uses(name)) << name;
    EXPECT_EQ(index.is_output(name), g.is_output(name)) << name;
    const std::ptrdiff_t reader = index.place_of_only_reader(name);
    if (g.uses(name) != 1 || g.is_output(name)) {
      EXPECT_EQ(reader, -1) << name;
      continue;
    }
    const std::vector<std::string> &read = g.nodes.at(static_cast<size_t>(reader)).inputs;
    EXPECT_EQ(std::count(read.begin(), read.end(), name), 1) << name;
  }
}

TEST(GraphIndex, AnswersAsTheGraphDoes) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Graph g = random_graph(seed);
    expect_same_answers(g, GraphIndex(g));
  }
}

TEST(GraphIndex, LearnsWhatChanges) {
  Graph g = random_graph(1);
  GraphIndex index(g);
  std::mt19937 rng(5);
  for (int change = 0; change < 30; ++change) {
    const size_t place = rng() % g.nodes.size();
    index.forget(place);
    if (change % 3 == 0)
      g.nodes[place] = {};
    else if (!g.nodes[place].inputs.empty())
      g.nodes[place].inputs[0] = "x";
    index.learn(place);
    expect_same_answers(g, index);
  }
}

TEST(GraphIndex, ANodeWithoutOutputsIsUnused) {
  Graph g = random_graph(2);
  g.nodes.insert(g.nodes.begin(), Graph::Node());
  g.remove_unused();
  for (const Graph::Node &n : g.nodes) EXPECT_FALSE(n.outputs.empty());
}

}  // namespace
}  // namespace saltern
