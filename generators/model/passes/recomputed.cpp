#include <set>
#include <unordered_map>

#include "generators/model/passes/passes.h"

namespace saltern::generators {

namespace {

class Recomputing {
 public:
  Recomputing(Graph &graph, const std::unordered_set<std::string> &values, const std::string &turn)
      : graph_(graph), before_(std::move(graph.nodes)) {
    size_t last = 0;
    for (size_t i = 0; i < before_.size(); ++i)
      for (const std::string &o : before_[i].outputs)
        if (o == turn) last = i;
    for (size_t i = 0; i <= last && i < before_.size(); ++i)
      for (const std::string &o : before_[i].outputs)
        if (values.count(o)) places_[o] = i;
    graph_.nodes.clear();
    for (size_t i = 0; i < before_.size(); ++i) {
      if (i > last) make_again(before_[i].inputs);
      graph_.nodes.push_back(before_[i]);
      if (i > last) read_copies(graph_.nodes.back());
    }
  }

 private:
  // Nodes in the order that they had: each makes what later ones read.
  void make_again(const std::vector<std::string> &read) {
    std::set<size_t> needed;
    std::vector<std::string> looked_at = read;
    while (!looked_at.empty()) {
      const std::string value = std::move(looked_at.back());
      looked_at.pop_back();
      const auto place = places_.find(value);
      if (place == places_.end() || copies_.count(value) || !needed.insert(place->second).second) continue;
      const std::vector<std::string> &inputs = before_[place->second].inputs;
      looked_at.insert(looked_at.end(), inputs.begin(), inputs.end());
    }
    for (size_t place : needed) {
      Graph::Node copy = before_[place];
      read_copies(copy);
      for (std::string &o : copy.outputs) {
        if (o.empty()) continue;
        const std::string name = graph_.fresh_name(o + ".again");
        graph_.values[name] = graph_.value(o);
        copies_[o] = name;
        o = name;
      }
      graph_.nodes.push_back(std::move(copy));
    }
  }

  void read_copies(Graph::Node &node) const {
    for (std::string &i : node.inputs)
      if (const auto copy = copies_.find(i); copy != copies_.end()) i = copy->second;
  }

  Graph &graph_;
  const std::vector<Graph::Node> before_;
  std::unordered_map<std::string, size_t> places_;
  std::unordered_map<std::string, std::string> copies_;
};

}  // namespace

Graph with_recomputed(Graph graph, const std::unordered_set<std::string> &values, const std::string &turn) {
  Recomputing(graph, values, turn);
  return graph;
}

}  // namespace saltern::generators
