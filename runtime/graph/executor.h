#pragma once
// Runs a graph with the library's kernels, node by node. A value's memory is freed after its last reader.

#include <map>
#include <string>

#include "runtime/graph/graph.h"

namespace saltern {

// The outputs by name. Throws an Error that names the input or node at fault.
std::map<std::string, Tensor> run(const Graph &graph, const std::map<std::string, Tensor> &inputs);

}  // namespace saltern
