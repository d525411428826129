#pragma once
// Graphs for inputs of any size: trace(net, {"batch", 1, 28, 28}).
//
// A net runs on numbers; so the graph of an open size is the one of a number that is large enough to show. With 1000003
// for the batch, 49000147 is 49 batch, 1000005 is batch + 2 and 1.0 / 1000003 a mean over the batch. Graph::sizes says
// which numbers these are, and at_sizes() puts others in their place. Tensors of such a graph are outlines: nothing of
// that size is ever made. What a net does otherwise at some size, such as a branch, is found out where it is traced.

#include "runtime/graph/graph.h"

namespace saltern {

// factor * names[0] * names[1] * ... + rest; where nothing is open, the number is the rest.
struct OpenNumber {
  int64_t factor = 0, rest = 0;
  std::vector<std::string> names = {};

  bool is_open() const { return !names.empty(); }
};
OpenNumber open_number(int64_t number, const Graph::Sizes &sizes);
// Whether an attribute has numbers that stand for sizes.
bool is_open(const Attribute &a, const Graph::Sizes &sizes);
// "49 * batch + 2".
std::string to_string(const OpenNumber &number);

bool is_stand_in(int64_t number);
// The numbers that stand for sizes of these names. Throws where a name is no plain one, or where there are too many.
Graph::Sizes stand_ins(const std::vector<std::string> &names);

// The graph for these sizes: of all its open ones, each at least 0.
Graph at_sizes(const Graph &graph, const Graph::Sizes &sizes);

// The sizes of inputs of these shapes. Throws an Error that names an input which does not fit the graph, or two that do
// not agree, or a size that nothing tells.
Graph::Sizes sizes_of(const Graph &graph, const std::map<std::string, Shape> &inputs);

// A value, and all of a graph's, as an imported graph would have it: open extents are -1, and have names.
Graph::Value with_names(Graph::Value value, const Graph::Sizes &sizes);
Graph with_names(Graph graph);

}  // namespace saltern
