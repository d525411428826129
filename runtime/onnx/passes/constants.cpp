#include "runtime/onnx/optimize.h"
#include "runtime/onnx/passes/sweep.h"
#include "runtime/onnx/walk.h"

namespace saltern {

namespace {

constexpr int64_t largest_growth = 1 << 20;  // bytes that folding one node may add

// The outputs of a node whose inputs are all constants; empty where it cannot be computed here.
std::vector<Tensor> folded(const Model &m, const Sweep &sweep, const Graph::Node &n) {
  if (is_random(n) || n.operation == "Dropout" || has_graph(n) || !n.references.empty() ||
      m.function(n.domain, n.operation))
    return {};
  const Operator *op = find_operator(n.domain, n.operation);
  if (!op) return {};
  std::vector<HostValue> inputs;
  int64_t before = 0;
  for (const std::string &i : n.inputs) {
    const Tensor *t = i.empty() ? nullptr : sweep.constant_of(i);
    if (!i.empty() && !t) return {};
    inputs.push_back(t ? HostValue(*t) : HostValue());
    if (t) before += static_cast<int64_t>(t->bytes());
  }
  try {
    std::vector<Tensor> results;
    int64_t after = 0;
    for (const HostValue &v : compute_operator(*op, n, m.opset(n.domain), inputs)) {
      if (!v.is_tensor()) return {};
      after += static_cast<int64_t>(v.tensor().bytes());
      results.push_back(v.tensor());
    }
    return after - before <= largest_growth && results.size() >= n.outputs.size() ? results : std::vector<Tensor>();
  } catch (const Error &) {
    return {};  // the node says what is wrong when it runs
  }
}

// Values that inference knows, of all outputs of a node.
std::vector<Tensor> inferred(const Inferred &known, const Graph::Node &n) {
  std::vector<Tensor> results;
  for (const std::string &o : n.outputs) {
    const InferredValue *v = known.find(o);
    if (!v || !v->constant.defined()) return {};
    results.push_back(v->constant);
  }
  return results;
}

}  // namespace

Model without_constant_inputs(Model m) {
  constexpr int64_t first_with_defaults = 4;
  if (m.ir_version >= first_with_defaults) return m;
  Graph &g = m.graph;
  const auto is_constant = [&](const std::string &i) { return g.value(i).constant.defined(); };
  g.inputs.erase(std::remove_if(g.inputs.begin(), g.inputs.end(), is_constant), g.inputs.end());
  m.ir_version = first_with_defaults;  // where a constant need not be an input
  return m;
}

Model with_folded_constants(Model m, const Inferred &known) {
  const Graph &g = m.graph;
  const std::set<std::string> outputs(g.outputs.begin(), g.outputs.end());
  Sweep sweep(m.graph, known);
  sweep.run([&](Graph::Node n) {
    std::vector<Tensor> results = inferred(known, n);
    if (results.empty()) results = folded(m, sweep, n);
    // An output is a node's, not a constant.
    const auto is_output = [&](const std::string &o) { return outputs.count(o) > 0; };
    if (results.empty() || std::any_of(n.outputs.begin(), n.outputs.end(), is_output)) return sweep.keep(std::move(n));
    for (size_t o = 0; o < n.outputs.size(); ++o)
      if (!n.outputs[o].empty()) m.graph.add_constant(n.outputs[o], results[o].in_layout(Layout::row_major));
  });
  return m;
}

}  // namespace saltern
