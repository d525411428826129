#include "runtime/onnx/walk.h"

#include <set>

namespace saltern {

bool is_control_flow(const Graph::Node &node) {
  static const std::set<std::pair<std::string, std::string>> names = {
      {"", "If"}, {"", "Loop"}, {"", "Scan"}, {"", "SequenceMap"}, {"ai.onnx.preview", "FlexAttention"}};
  return names.count({node.domain, node.operation}) > 0;
}

bool is_random(const Graph::Node &node) {
  return node.operation.rfind("Random", 0) == 0 || node.operation == "Bernoulli" || node.operation == "Multinomial";
}

bool has_graph(const Graph::Node &node) {
  return std::any_of(node.attributes.begin(), node.attributes.end(),
                     [](const auto &a) { return std::holds_alternative<SharedGraph>(a.second); });
}

Graph with_attributes(const Graph &body, const Attributes &attributes) {
  Graph g = body;
  for (Graph::Node &n : g.nodes) {
    for (const auto &[name, of_function] : n.references)
      for (const auto &[given, a] : attributes)
        if (given == of_function) n.attributes.set(name, a);
    n.references.clear();
    std::vector<std::pair<std::string, SharedGraph>> inner;
    for (const auto &[name, a] : n.attributes)
      if (const auto *graph = std::get_if<SharedGraph>(&a)) inner.emplace_back(name, *graph);
    for (const auto &[name, graph] : inner)
      n.attributes.set(name, std::make_shared<const Graph>(with_attributes(*graph, attributes)));
  }
  return g;
}

std::unordered_map<std::string, int> count_readers(const Graph &g) {
  std::unordered_map<std::string, int> readers;
  for (const Graph::Node &n : g.nodes) {
    if (has_graph(n)) return {};
    for (const std::string &i : n.inputs) ++readers[i];
  }
  for (const std::string &o : g.outputs) readers.erase(o);
  return readers;
}

}  // namespace saltern
