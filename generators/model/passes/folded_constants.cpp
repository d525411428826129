#include <algorithm>
#include <set>

#include "generators/model/passes/passes.h"
#include "runtime/graph/executor.h"

namespace saltern::generators {

namespace {

constexpr int64_t most_growth = 1 << 20;  // bytes that folding one node may add to the weights

bool can_fold(const Graph &graph, const std::set<std::string> &outputs, const Graph::Node &node) {
  const auto bytes = [&](const std::vector<std::string> &names) {
    int64_t sum = 0;
    for (const std::string &name : names)
      sum += elements(graph.value(name).shape) * facts(graph.value(name).type).bytes();
    return sum;
  };
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](const std::string &i) { return graph.value(i).constant.defined(); }) &&
         // An output is a node's: a driver copies nothing but what kernels made.
         std::none_of(node.outputs.begin(), node.outputs.end(),
                      [&](const std::string &o) { return outputs.count(o) > 0; }) &&
         bytes(node.outputs) <= bytes(node.inputs) + most_growth;
}

}  // namespace

Graph with_folded_constants(Graph graph) {
  const std::set<std::string> outputs(graph.outputs.begin(), graph.outputs.end());
  std::vector<Graph::Node> kept;
  for (Graph::Node &node : graph.nodes) {
    if (!can_fold(graph, outputs, node)) {
      kept.push_back(std::move(node));
      continue;
    }
    Graph alone;
    for (const std::string &i : node.inputs) alone.values[i] = graph.value(i);
    for (const std::string &o : node.outputs) alone.values[o] = graph.value(o);
    alone.outputs = node.outputs;
    alone.nodes = {node};
    for (const auto &[name, value] : run(alone, {})) graph.values[name].constant = value;
  }
  graph.nodes = std::move(kept);
  graph.remove_unused();
  return graph;
}

}  // namespace saltern::generators
