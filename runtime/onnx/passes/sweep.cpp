#include "runtime/onnx/passes/sweep.h"

#include <algorithm>

namespace saltern {

namespace {

void collect_inner_reads(const Graph &g, std::set<std::string> &names) {
  for (const Graph::Node &n : g.nodes)
    for (const auto &[name, a] : n.attributes)
      if (const auto *inner = std::get_if<SharedGraph>(&a)) {
        for (const Graph::Node &m : (*inner)->nodes) names.insert(m.inputs.begin(), m.inputs.end());
        names.insert((*inner)->outputs.begin(), (*inner)->outputs.end());
        collect_inner_reads(**inner, names);
      }
}

}  // namespace

std::set<std::string> fixed_names(const Graph &g) {
  std::set<std::string> names(g.outputs.begin(), g.outputs.end());
  collect_inner_reads(g, names);
  return names;
}

bool is_onnx_operator(const Graph::Node &n, const char *operation) {
  return n.operation == operation && n.domain.empty() && n.references.empty();
}

void Sweep::run(const std::function<void(Graph::Node)> &visit) {
  std::vector<Graph::Node> nodes = std::move(graph_.nodes);
  graph_.nodes.clear();
  for (const Graph::Node &n : nodes) taken_.insert(n.outputs.begin(), n.outputs.end());
  for (Graph::Node &n : nodes) {
    for (std::string &i : n.inputs)
      if (const auto it = renamed_.find(i); it != renamed_.end()) i = it->second;
    visit(std::move(n));
  }
  graph_.nodes = std::move(kept_);
}

void Sweep::keep(Graph::Node node) {
  for (const std::string &o : node.outputs)
    if (!o.empty()) makers_[o] = kept_.size();
  kept_.push_back(std::move(node));
}

Graph::Node *Sweep::maker(const std::string &name) {
  const auto it = makers_.find(name);
  return it == makers_.end() ? nullptr : &kept_[it->second];
}

const Tensor *Sweep::constant_of(const std::string &name) const {
  const auto it = graph_.values.find(name);
  if (it == graph_.values.end() || !it->second.constant.defined()) return nullptr;
  // A constant that is an input too is a default, which a caller may override.
  return inputs_.count(name) == 0 ? &it->second.constant : nullptr;
}

bool Sweep::has_one_reader(const std::string &name) const {
  const auto it = readers_.find(name);
  return it != readers_.end() && it->second == 1 && !is_fixed(name);
}

std::string Sweep::fresh(const std::string &like) {
  std::string name = like;
  while (known_.names.count(name) || graph_.values.count(name) || fixed_.count(name) || taken_.count(name) ||
         inputs_.count(name))
    name += "_";
  taken_.insert(name);
  return name;
}

std::string Sweep::constant(const std::string &like, const Tensor &value) {
  const std::string name = fresh(like);
  graph_.add_constant(name, value);
  return name;
}

}  // namespace saltern
