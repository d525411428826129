#pragma once
// Runs a graph with the library's kernels, node by node. A value's memory is freed after its last reader.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"

namespace saltern {

// What may happen beside, or instead of, calling kernels.
struct RunHooks {
  // Gives a node's outputs from its inputs, instead of compute_node().
  std::function<std::vector<Tensor>(const Graph &, const Graph::Node &, const std::vector<Tensor> &)> compute;
  // Is called when a node's outputs are there.
  std::function<void(const Graph::Node &)> done;
};

// The outputs by name. State that is not among the inputs is as it begins. Throws an Error that names the input or node at fault.
std::map<std::string, Tensor> run(const Graph &graph, const std::map<std::string, Tensor> &inputs,
                                  const RunHooks &hooks = {});

// The outputs that were asked for. State is read, and written when all is computed, in the memory that `state` has by
// name; what is missing there begins as the graph says, and is added.
std::map<std::string, Tensor> run(const Graph &graph, const std::map<std::string, Tensor> &inputs,
                                  std::map<std::string, Tensor> &state, const RunHooks &hooks = {});

// One node's outputs, by a library kernel or as its formula says.
std::vector<Tensor> compute_node(const Graph &graph, const Graph::Node &node, const std::vector<Tensor> &inputs);

}  // namespace saltern
