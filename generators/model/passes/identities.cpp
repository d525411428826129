#include <unordered_map>

#include "generators/model/passes/passes.h"
#include "runtime/graph/graph_index.h"

namespace saltern::generators {

namespace {

bool does_nothing(const Graph &graph, const Graph::Node &node) {
  if (node.inputs.empty()) return false;
  if (node.operation == "identity") return true;
  const bool gives_a_shape = node.operation == "reshape" || node.operation == "expand";
  return gives_a_shape && graph.value(node.inputs[0]).shape == graph.value(node.outputs[0]).shape;
}

}  // namespace

Graph without_identities(Graph graph) {
  const GraphIndex index(graph);
  std::unordered_map<std::string, std::string> same, renamed;
  const auto rename = [](std::vector<std::string> &names, const std::unordered_map<std::string, std::string> &to) {
    for (std::string &name : names)
      if (const auto it = to.find(name); it != to.end()) name = it->second;
  };
  // Outputs keep their names: then the value before takes the name of the one after. Not possible where both are known
  // outside: a reshape to the same shape is left, which needs no kernel.
  const auto is_taken_over = [&](const std::string &from, const std::string &to) {
    if (!index.is_output(to)) return true;
    return !index.is_output(from) && index.producer(from) && renamed.emplace(from, to).second;
  };
  std::vector<Graph::Node> kept;
  for (Graph::Node &node : graph.nodes) {
    rename(node.inputs, same);
    const bool nothing = does_nothing(graph, node);
    if (nothing && is_taken_over(node.inputs[0], node.outputs[0]))
      same[node.outputs[0]] = node.inputs[0];
    else if (nothing)
      kept.push_back({"reshape", {{"shape", graph.value(node.inputs[0]).shape}}, {node.inputs[0]}, node.outputs});
    else
      kept.push_back(node);
  }
  for (Graph::Node &node : kept) {
    rename(node.inputs, renamed);
    rename(node.outputs, renamed);
  }
  graph.nodes = std::move(kept);
  graph.remove_unused();
  return graph;
}

}  // namespace saltern::generators
