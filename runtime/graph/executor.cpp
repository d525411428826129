#include "runtime/graph/executor.h"

#include <numeric>
#include <set>

#include "runtime/formula/computation.h"
#include "runtime/graph/formula_node.h"
#include "runtime/graph/open_sizes.h"
#include "runtime/kernels/kernels.h"
#include "runtime/operations.h"

namespace saltern {

namespace {

void expect_value(const std::string &who, const std::string &name, const Graph::Value &v, const Tensor &t) {
  if (t.defined() && t.shape() == v.shape && t.type() == v.type) return;
  if (!t.defined()) fail(who, " '", name, "' is undefined");
  fail(who, " '", name, "' is ", facts(t.type()).name, " ", to_string(t.shape()), "; the graph says ",
       facts(v.type).name, " ", to_string(v.shape));
}

// A formula node by itself, of all its inputs.
formula::ExactFormulas formulas_of(const Graph &graph, const Graph::Node &node) {
  formula::ExactFormula f = formula_of(graph, node);
  const auto count = static_cast<int>(node.inputs.size());
  f.name = node.operation;
  f.operands.resize(node.inputs.size());
  std::iota(f.operands.begin(), f.operands.end(), 0);
  return {{std::move(f)}, {count}};
}

}  // namespace

std::vector<Tensor> compute_node(const Graph &graph, const Graph::Node &node, const std::vector<Tensor> &in) {
  if (is_formula_node(node)) return Computation(formulas_of(graph, node), Runs::once)(in);
  const Operation *operation = find_operation(node.operation);
  if (!operation) unsupported(describe(node), ": there is no such operation");
  Attributes attributes = node.attributes;
  attributes.set_owner(node.operation);
  try {
    return operation->compute(in, attributes);
  } catch (const std::exception &e) {  // also those of the standard library: a node may have too few inputs
    fail("node '", node.outputs[0], "' (", node.operation, "): ", e.what());
  }
}

std::map<std::string, Tensor> run(const Graph &graph, const std::map<std::string, Tensor> &inputs,
                                  const RunHooks &hooks) {
  if (!graph.sizes.empty()) {
    std::map<std::string, Shape> shapes;
    for (const std::string &name : graph.inputs)
      if (const auto given = inputs.find(name); given != inputs.end()) shapes[name] = given->second.shape();
    return run(at_sizes(graph, sizes_of(graph, shapes)), inputs, hooks);
  }
  std::map<std::string, Tensor> values;
  std::map<std::string, int> readers;
  for (const auto &[name, v] : graph.values) {
    readers[name] = 0;
    if (v.constant.defined()) values[name] = v.constant;
  }
  for (const Graph::Node &n : graph.nodes)
    for (const std::string &i : n.inputs) ++readers[i];
  for (const std::string &o : graph.outputs) ++readers[o];

  for (const Graph::State &s : graph.state) values[s.value] = s.initial;
  for (const std::string &name : graph.inputs) {
    const auto given = inputs.find(name);
    if (given == inputs.end() && values.count(name)) continue;
    if (given == inputs.end()) fail("the input '", name, "' is missing");
    expect_value("the input", name, graph.value(name), given->second);
    values[name] = given->second;
  }
  for (const Graph::Node &n : graph.nodes) {
    std::vector<Tensor> in;
    for (const std::string &i : n.inputs) in.push_back(values.at(i));
    const std::vector<Tensor> out = hooks.compute ? hooks.compute(graph, n, in) : compute_node(graph, n, in);
    if (out.size() < n.outputs.size())
      fail("node '", n.outputs[0], "' (", n.operation, ") has ", n.outputs.size(), " outputs; the operation makes ",
           out.size());
    for (size_t o = 0; o < n.outputs.size(); ++o) {
      expect_value("the value", n.outputs[o], graph.value(n.outputs[o]), out[o]);
      if (readers[n.outputs[o]] > 0) values[n.outputs[o]] = out[o];
    }
    for (const std::string &i : n.inputs)
      if (--readers[i] == 0) values.erase(i);
    if (hooks.done) hooks.done(n);
  }
  std::map<std::string, Tensor> outputs;
  for (const std::string &o : graph.outputs) outputs[o] = values.at(o);
  return outputs;
}

std::map<std::string, Tensor> run(const Graph &graph, const std::map<std::string, Tensor> &inputs,
                                  std::map<std::string, Tensor> &state, const RunHooks &hooks) {
  std::map<std::string, Tensor> all = inputs;
  std::set<const void *> memory;
  for (const Graph::State &s : graph.state) {
    if (!state.count(s.value)) state[s.value] = s.initial.clone();
    all[s.value] = state.at(s.value);
    memory.insert(state.at(s.value).memory().get());
  }
  std::map<std::string, Tensor> outputs = run(graph, all, hooks);
  // What is some state's old value is taken out of its memory before anything is written there.
  for (auto &[name, t] : outputs)
    if (memory.count(t.memory().get())) t = t.clone();
  for (const Graph::State &s : graph.state) {
    if (s.next == s.value) continue;
    state.at(s.value).copy_from(outputs.at(s.next));
    outputs.erase(s.next);
  }
  return outputs;
}

}  // namespace saltern
