#include <algorithm>

#include "generators/model/passes/passes.h"

namespace saltern::generators {

namespace {

bool does_nothing(const Graph &graph, const Graph::Node &node) {
  if (node.inputs.empty()) return false;
  if (node.operation == "dropout" || node.operation == "identity") return true;
  return node.operation == "reshape" && graph.value(node.inputs[0]).shape == graph.value(node.outputs[0]).shape;
}

// Outputs keep their names: then the value before takes the name of the one after. Not possible where both are known
// outside: a reshape to the same shape is left, which needs no kernel.
bool can_take_the_name(const Graph &graph, const std::string &from, const std::string &to) {
  return !graph.is_output(to) || (!graph.is_output(from) && graph.producer(from));
}

}  // namespace

Graph without_identities(Graph graph) {
  for (size_t i = 0; i < graph.nodes.size();) {
    const Graph::Node node = graph.nodes[i];
    const bool nothing = does_nothing(graph, node);
    if (!nothing || !can_take_the_name(graph, node.inputs[0], node.outputs[0])) {
      if (nothing)
        graph.nodes[i] = {"reshape", {{"shape", graph.value(node.inputs[0]).shape}}, {node.inputs[0]}, node.outputs};
      ++i;
      continue;
    }
    const std::string from = node.inputs[0], to = node.outputs[0];
    graph.nodes.erase(graph.nodes.begin() + static_cast<std::ptrdiff_t>(i));
    if (graph.is_output(to)) {
      graph.replace_uses(from, to);
      for (Graph::Node &n : graph.nodes) std::replace(n.outputs.begin(), n.outputs.end(), from, to);
      graph.values.erase(from);
    } else {
      graph.replace_uses(to, from);
      graph.values.erase(to);
    }
  }
  graph.remove_unused();
  return graph;
}

}  // namespace saltern::generators
