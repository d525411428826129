// Nodes that another one stands for, and nodes that nobody needs.

#include <algorithm>
#include <cmath>

#include "runtime/onnx/optimize.h"
#include "runtime/onnx/passes/sweep.h"
#include "runtime/onnx/walk.h"

namespace saltern {

namespace {

bool is_same_computation(const Graph::Node &a, const Graph::Node &b) {
  return a.operation == b.operation && a.domain == b.domain && a.inputs == b.inputs && a.attributes == b.attributes &&
         a.references == b.references && a.outputs.size() == b.outputs.size();
}

// Of attributes that tell nodes with the same inputs apart; all others count as equal here.
struct QuickHash {
  size_t operator()(int64_t i) const { return std::hash<int64_t>()(i); }
  size_t operator()(double d) const { return std::isnan(d) ? 0 : std::hash<double>()(d); }
  size_t operator()(const std::string &s) const { return std::hash<std::string>()(s); }
  template <typename T>
  size_t operator()(const std::vector<T> &all) const {
    size_t hash = all.size();
    for (const T &one : all) hash = hash * 31 + (*this)(one);
    return hash;
  }
  template <typename T>
  size_t operator()(const T &) const {
    return 0;
  }
};

// Equal for equal computations, and for few others: thousands of nodes may read one value.
std::string quick_key(const Graph::Node &n) {
  std::string key = n.operation;
  for (const std::string &i : n.inputs) key += "\n" + i;
  for (const auto &[name, a] : n.attributes) key += "\n" + name + std::to_string(std::visit(QuickHash(), a));
  return key;
}

// A function of the model may hold anything.
bool may_be_random(const Model &m, const Graph::Node &n) {
  return is_random(n) || n.operation == "Dropout" || has_graph(n) || m.function(n.domain, n.operation);
}

}  // namespace

Model with_common_nodes_once(Model m, const Inferred &known) {
  Sweep sweep(m.graph, known);
  std::multimap<std::string, std::string> made;  // an output of each kept node, by its quick key
  sweep.run([&](Graph::Node n) {
    const bool outside =
        std::any_of(n.outputs.begin(), n.outputs.end(), [&](const auto &o) { return sweep.is_fixed(o); });
    const std::string key = quick_key(n);
    const Graph::Node *twin = nullptr;
    if (!outside && !may_be_random(m, n)) {
      const auto [first, last] = made.equal_range(key);
      for (auto it = first; it != last && !twin; ++it)
        if (const Graph::Node *other = sweep.maker(it->second); is_same_computation(*other, n)) twin = other;
    }
    bool all_there = twin != nullptr;  // what one leaves out, the other may want
    for (size_t o = 0; all_there && o < n.outputs.size(); ++o)
      all_there = n.outputs[o].empty() || !twin->outputs[o].empty();
    if (!all_there) {
      for (const std::string &o : n.outputs)
        if (!o.empty()) {
          made.emplace(key, o);
          break;
        }
      return sweep.keep(std::move(n));
    }
    for (size_t o = 0; o < n.outputs.size(); ++o)
      if (!n.outputs[o].empty()) sweep.rename(n.outputs[o], twin->outputs[o]);
  });
  return m;
}

Model without_dead_code(Model m, const Inferred &) {
  Graph &g = m.graph;
  // What graphs inside of dead nodes read goes with them one pass later.
  std::set<std::string> needed = fixed_names(g);
  std::vector<Graph::Node> kept;
  for (auto n = g.nodes.rbegin(); n != g.nodes.rend(); ++n) {
    if (std::none_of(n->outputs.begin(), n->outputs.end(), [&](const auto &o) { return needed.count(o) > 0; }))
      continue;
    needed.insert(n->inputs.begin(), n->inputs.end());
    kept.push_back(std::move(*n));
  }
  g.nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
  needed.insert(g.inputs.begin(), g.inputs.end());
  for (const Graph::Node &n : g.nodes) needed.insert(n.outputs.begin(), n.outputs.end());
  for (auto v = g.values.begin(); v != g.values.end();) v = needed.count(v->first) ? std::next(v) : g.values.erase(v);
  return m;
}

}  // namespace saltern
