#pragma once
// Graphs for inputs of any size: trace(net, {"batch", 1, 28, 28}).
//
// The graph of an open size is the one of a number that stands for it (runtime/tensor/open_extents.h): where 117937 is the
// batch, 1.0 / 117937 is a mean over it. Graph::sizes says which numbers these are, and at_sizes() puts others in their
// place. Tensors of such a graph are outlines: nothing of that size is ever made. What a net does otherwise at some size,
// such as a branch, is found out where it is traced.

#include "runtime/graph/graph.h"

namespace saltern {

// What a size is the quotient of.
OpenNumber numerator_of(const OpenSize &size, const OpenSizes &sizes);

// These sizes and the sums that are extents of a graph's values, as quotients by 1: h - 2 and w - 2 are factors of what
// comes of both.
OpenSizes with_sums(OpenSizes sizes, const NamedMap<Graph::Value> &values);

// Whether an attribute has numbers that stand for sizes.
bool is_open(const Attribute &a, const OpenSizes &sizes);

// Numbers for sizes of these names. Throws where a name is no plain one, or where there are too many.
OpenSizes stand_ins(const std::vector<std::string> &names);

// The graph for these sizes: of all its open ones that are no quotients, each at least 0. Throws an Error that names a node
// which does not fit them.
Graph at_sizes(const Graph &graph, const Graph::Sizes &sizes);

// The sizes of inputs of these shapes. Throws an Error that names an input which does not fit the graph, or two that do
// not agree, or a size that nothing tells.
Graph::Sizes sizes_of(const Graph &graph, const std::map<std::string, Shape> &inputs);

// A value, and all of a graph's, as an imported graph would have it: open extents are -1, and have names.
Graph::Value with_names(Graph::Value value, const OpenSizes &sizes);
Graph with_names(Graph graph);

}  // namespace saltern
