#include "runtime/onnx/infer_shapes.h"

#include <set>

#include "runtime/onnx/symbolic_walk.h"

namespace saltern {

namespace {

constexpr int64_t most_values = 64;  // elements of a value that is kept as a constant

InferredValue inferred(const Symbolic &seen, const std::vector<std::string> &names) {
  InferredValue v;
  v.type = seen.type;
  v.extents = seen.extents;
  v.sure = seen.sure;
  bool named = false;
  for (const Quantity &e : seen.extents) {
    v.shape.push_back(e.is_constant() ? e.constant() : -1);
    v.symbols.push_back(e.is_constant() ? "" : e.text(names));
    named |= !v.symbols.back().empty();
  }
  if (!named) v.symbols.clear();
  if (seen.value.defined() && seen.value.size() <= most_values) v.constant = seen.value;
  return v;
}

bool is_default(const Graph &g, const std::string &name) { return g.value(name).constant.defined(); }

}  // namespace

const InferredValue *Inferred::find(const std::string &name) const {
  const auto it = values.find(name);
  return it == values.end() ? nullptr : &it->second;
}

bool Inferred::covers(const Graph &graph) const {
  for (const Graph::Node &n : graph.nodes)
    for (const std::string &o : n.outputs)
      if (!o.empty() && !names.count(o)) return false;
  return true;
}

Inferred infer_shapes(const Model &model) {
  SymbolicWalk walk(model);
  walk.run();
  Inferred all;
  for (const auto &[name, seen] : walk.seen()) {
    all.names.insert(name);
    if (!name.empty() && seen.known) all.values.emplace(name, inferred(seen, walk.names()));
  }
  return all;
}

Model with_inferred_shapes(Model model) {
  Model taken = model;
  std::vector<std::string> &inputs = taken.graph.inputs;
  inputs.erase(
      std::remove_if(inputs.begin(), inputs.end(), [&](const std::string &i) { return is_default(taken.graph, i); }),
      inputs.end());
  const std::set<std::string> given_inputs(model.graph.inputs.begin(), model.graph.inputs.end());
  for (auto &[name, v] : infer_shapes(taken).values) {
    const auto given = model.graph.values.find(name);
    if (given_inputs.count(name) || (given != model.graph.values.end() && given->second.constant.defined())) continue;
    v.constant = {};
    // A file may know an extent that could not be told.
    if (given != model.graph.values.end() && given->second.ranked && given->second.shape.size() == v.shape.size())
      for (size_t d = 0; d < v.shape.size(); ++d)
        if (v.shape[d] < 0 && v.symbol(d).empty() &&
            (given->second.shape[d] >= 0 || !given->second.symbol(d).empty())) {
          v.shape[d] = given->second.shape[d];
          v.symbols.resize(v.shape.size());
          v.symbols[d] = given->second.symbol(d);
        }
    model.graph.values[name] = v;
  }
  return model;
}

void expect_no_decision_by_sizes(const Model &model) {
  SymbolicWalk walk(model);
  walk.run();
  if (!walk.decides_by_sizes().empty())
    unsupported(walk.decides_by_sizes(), " may decide by the size of the batch: the model cannot be compiled for any");
}

}  // namespace saltern
