#pragma once
// What passes have in common: they go over the nodes of a model's graph in their order, and keep, change or drop each.

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "runtime/onnx/infer_shapes.h"

namespace saltern {

// Names that must stay as they are: the graph's outputs, and what graphs inside of attributes read.
std::set<std::string> fixed_names(const Graph &graph);
// Whether it is an operator of ONNX itself, with all of its attributes known.
bool is_onnx_operator(const Graph::Node &node, const char *operation);

// ---- The `perm` of a Transpose: dimension d of the result is dimension order[d] of x.

using Order = std::vector<int64_t>;

inline bool is_order(const Order &order) {
  std::vector<bool> seen(order.size(), false);
  for (const int64_t d : order) {
    if (d < 0 || d >= static_cast<int64_t>(order.size()) || seen[static_cast<size_t>(d)]) return false;
    seen[static_cast<size_t>(d)] = true;
  }
  return true;
}

inline bool moves_nothing(const Order &order) { return std::is_sorted(order.begin(), order.end()); }

// Of one Transpose that does what two do, one after the other; empty where they do not fit each other.
inline Order merged(const Order &first, const Order &then) {
  if (first.size() != then.size() || !is_order(first) || !is_order(then)) return {};
  Order both;
  for (const int64_t d : then) both.push_back(first[static_cast<size_t>(d)]);
  return both;
}

class Sweep {
 public:
  // Names of values of which something is known are not given to new ones.
  Sweep(Graph &graph, const Inferred &known)
      : graph_(graph), known_(known), fixed_(fixed_names(graph)), inputs_(graph.inputs.begin(), graph.inputs.end()) {
    for (const Graph::Node &n : graph.nodes)
      for (const std::string &i : n.inputs) ++readers_[i];
  }

  // Calls `visit` with each node, whose inputs have their new names already; it keeps what is to stay.
  void run(const std::function<void(Graph::Node)> &visit);

  // ---- For `visit`.
  Graph &graph() { return graph_; }
  void keep(Graph::Node node);
  // Readers of `from`, whose node is dropped, read `to`.
  void rename(const std::string &from, const std::string &to) { renamed_[from] = to; }
  // The kept node that makes a value; null for inputs and constants. Valid until the next keep().
  Graph::Node *maker(const std::string &name);
  bool is_fixed(const std::string &name) const { return fixed_.count(name) > 0; }
  // A constant that nobody can override; null where there is none.
  const Tensor *constant_of(const std::string &name) const;
  // Whether nothing else needs the value than one input of one node of the graph as it was.
  bool has_one_reader(const std::string &name) const;
  // A new constant, by a name like that of `like`.
  std::string constant(const std::string &like, const Tensor &value);
  // A name for a new value.
  std::string fresh(const std::string &like);

 private:
  Graph &graph_;
  const Inferred &known_;
  std::set<std::string> fixed_, inputs_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, std::string> renamed_;
  std::unordered_map<std::string, size_t> makers_;
  std::unordered_map<std::string, int> readers_;
  std::vector<Graph::Node> kept_;
};

}  // namespace saltern
