#include "runtime/onnx/import_steps.h"

#include <set>

namespace saltern {

namespace {

using Names = std::map<std::string, std::string>;

void rename(std::string &name, const Names &names) {
  if (const auto it = names.find(name); it != names.end()) name = it->second;
}

Graph renamed(const Graph &inner, Names names);

void rename(Graph::Node &node, const Names &names) {
  for (std::string &i : node.inputs) rename(i, names);
  for (std::string &o : node.outputs) rename(o, names);
  std::vector<std::pair<std::string, SharedGraph>> graphs;
  for (const auto &[name, a] : node.attributes)
    if (const auto *g = std::get_if<SharedGraph>(&a)) graphs.emplace_back(name, *g);
  for (const auto &[name, g] : graphs) node.attributes.set(name, std::make_shared<const Graph>(renamed(*g, names)));
}

// A graph inside a modifier: only what it reads from outside has another name.
Graph renamed(const Graph &inner, Names names) {
  Graph g = inner;
  for (const std::string &i : g.inputs) names.erase(i);
  for (const auto &[name, v] : g.values)
    if (v.constant.defined()) names.erase(name);
  for (const Graph::Node &n : g.nodes)
    for (const std::string &o : n.outputs) names.erase(o);
  for (Graph::Node &n : g.nodes) rename(n, names);
  for (std::string &o : g.outputs) rename(o, names);
  return g;
}

class Parts {
 public:
  Parts(Graph &graph, const Graph::Node &node, std::set<std::string> &taken)
      : graph_(graph), node_(node), taken_(taken) {}

  std::vector<Graph::Node> all() {
    if (node_.inputs.size() != 3 || node_.outputs.size() != 1)
      fail(describe(node_), " is expected to have query, key and value, and one result");
    std::string x = add("FlexScores", {node_.inputs[0], node_.inputs[1]}, fresh("scores"));
    x = add("FlexWeights", {modified("score_mod", x)}, fresh("weights"));
    add("FlexValues", {modified("prob_mod", x), node_.inputs[2]}, node_.outputs[0]);
    return std::move(nodes_);
  }

 private:
  std::string fresh(const std::string &what) {
    std::string name = node_.outputs[0] + "/" + what;
    while (!taken_.insert(name).second) name += "_";
    return name;
  }

  std::string add(const std::string &operation, std::vector<std::string> inputs, const std::string &output) {
    Graph::Node n;
    n.operation = operation;
    n.domain = "saltern";
    n.label = node_.label;
    for (const char *name : {"scale", "softmax_precision"}) {
      for (const auto &[given, a] : node_.attributes)
        if (given == name) n.attributes.set(name, a);
      if (const auto it = node_.references.find(name); it != node_.references.end()) n.references[name] = it->second;
    }
    n.attributes.set_owner(node_.operation);
    n.inputs = std::move(inputs);
    n.outputs = {output};
    nodes_.push_back(std::move(n));
    return output;
  }

  // The nodes of a modifier, if there is one; `x` is what it is given.
  std::string modified(const char *which, const std::string &x) {
    if (!node_.attributes.has(which)) return x;
    const Graph &g = node_.attributes.graph(which);
    if (g.inputs.size() != 1 || g.outputs.size() != 1)
      fail(describe(node_), ": ", which, " is expected to have one input and one output");
    Names names = {{g.inputs[0], x}};
    const auto own = [&](const std::string &name) {
      if (!name.empty() && !names.count(name)) names[name] = fresh(std::string(which) + "/" + name);
    };
    for (const auto &[name, v] : g.values)
      if (v.constant.defined()) own(name);
    for (const Graph::Node &n : g.nodes)
      for (const std::string &o : n.outputs) own(o);
    for (const auto &[name, v] : g.values)
      if (v.constant.defined()) graph_.values[names.at(name)] = v;
    for (Graph::Node n : g.nodes) {
      rename(n, names);
      nodes_.push_back(std::move(n));
    }
    std::string result = g.outputs[0];
    rename(result, names);
    return result;
  }

  Graph &graph_;
  const Graph::Node &node_;
  std::set<std::string> &taken_;
  std::vector<Graph::Node> nodes_;
};

}  // namespace

void take_apart_flex_attention(Graph &graph) {
  std::set<std::string> taken(graph.inputs.begin(), graph.inputs.end());
  for (const auto &[name, v] : graph.values) taken.insert(name);
  for (const Graph::Node &n : graph.nodes) taken.insert(n.outputs.begin(), n.outputs.end());
  std::vector<Graph::Node> nodes;
  for (Graph::Node &n : graph.nodes) {
    std::vector<std::pair<std::string, SharedGraph>> graphs;
    for (const auto &[name, a] : n.attributes)
      if (const auto *g = std::get_if<SharedGraph>(&a)) graphs.emplace_back(name, *g);
    for (const auto &[name, g] : graphs) {
      Graph inner = *g;
      take_apart_flex_attention(inner);
      n.attributes.set(name, std::make_shared<const Graph>(std::move(inner)));
    }
    if (n.domain != "ai.onnx.preview" || n.operation != "FlexAttention") {
      nodes.push_back(std::move(n));
      continue;
    }
    for (Graph::Node &part : Parts(graph, n, taken).all()) nodes.push_back(std::move(part));
  }
  graph.nodes = std::move(nodes);
}

}  // namespace saltern
