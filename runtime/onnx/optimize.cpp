#include "runtime/onnx/optimize.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/operators/operators.h"

namespace saltern {

namespace {

constexpr int64_t largest_growth = 1 << 20;  // bytes that folding one node may add

bool has_graph(const Graph::Node &n) {
  return std::any_of(n.attributes.begin(), n.attributes.end(),
                     [](const auto &a) { return std::holds_alternative<SharedGraph>(a.second); });
}

// Names that graphs inside of attributes read from outside: they must not be renamed or removed.
void collect_inner_reads(const Graph &g, std::set<std::string> &names) {
  for (const Graph::Node &n : g.nodes)
    for (const auto &[name, a] : n.attributes)
      if (const auto *inner = std::get_if<SharedGraph>(&a)) {
        for (const Graph::Node &m : (*inner)->nodes) names.insert(m.inputs.begin(), m.inputs.end());
        names.insert((*inner)->outputs.begin(), (*inner)->outputs.end());
        collect_inner_reads(**inner, names);
      }
}

std::set<std::string> fixed_names(const Graph &g) {
  std::set<std::string> names(g.outputs.begin(), g.outputs.end());
  collect_inner_reads(g, names);
  return names;
}

const Tensor *constant_of(const Graph &g, const std::string &name) {
  const auto it = g.values.find(name);
  if (it == g.values.end() || !it->second.constant.defined()) return nullptr;
  // A constant that is an input too is a default, which a caller may override.
  return std::find(g.inputs.begin(), g.inputs.end(), name) == g.inputs.end() ? &it->second.constant : nullptr;
}

bool is_random(const std::string &operation) {
  return operation.rfind("Random", 0) == 0 || operation == "Bernoulli" || operation == "Multinomial" ||
         operation == "Dropout";
}

// The outputs of a node whose inputs are all constants; empty where it cannot be computed here.
std::vector<Tensor> folded(const Model &m, const Graph::Node &n) {
  if (is_random(n.operation) || has_graph(n) || !n.references.empty() || m.function(n.domain, n.operation)) return {};
  const Operator *op = find_operator(n.domain, n.operation);
  if (!op) return {};
  std::vector<HostValue> inputs;
  int64_t before = 0;
  for (const std::string &i : n.inputs) {
    const Tensor *t = i.empty() ? nullptr : constant_of(m.graph, i);
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

// The input that a node passes on as it is; empty where it does not.
std::string passed_on(const Model &m, const Graph::Node &n) {
  if (!n.domain.empty() || n.inputs.empty() || n.inputs[0].empty() || !n.references.empty()) return "";
  const auto wanted =
      std::count_if(n.outputs.begin(), n.outputs.end(), [](const std::string &o) { return !o.empty(); });
  if (wanted != 1 || n.outputs[0].empty()) return "";
  if (n.operation == "Identity") return n.inputs[0];
  if (n.operation == "Dropout" && n.inputs.size() < 3 && m.opset("") >= 7) return n.inputs[0];
  if (n.operation == "Transpose" && n.attributes.has("perm")) {
    const std::vector<int64_t> &order = n.attributes.integers("perm");
    for (size_t d = 0; d < order.size(); ++d)
      if (order[d] != static_cast<int64_t>(d)) return "";
    return n.inputs[0];
  }
  return "";
}

bool is_same_computation(const Graph::Node &a, const Graph::Node &b) {
  return a.operation == b.operation && a.domain == b.domain && a.inputs == b.inputs && a.attributes == b.attributes &&
         a.references == b.references && a.outputs.size() == b.outputs.size();
}

}  // namespace

Model with_folded_constants(Model m) {
  std::vector<Graph::Node> kept;
  for (Graph::Node &n : m.graph.nodes) {
    const std::vector<Tensor> results = folded(m, n);
    if (results.empty()) {
      kept.push_back(std::move(n));
      continue;
    }
    const auto is_output = [&](const std::string &o) { return m.graph.is_output(o); };
    if (std::any_of(n.outputs.begin(), n.outputs.end(), is_output)) {  // an output is a node's, not a constant
      kept.push_back(std::move(n));
      continue;
    }
    for (size_t o = 0; o < n.outputs.size(); ++o)
      if (!n.outputs[o].empty()) m.graph.add_constant(n.outputs[o], results[o].in_layout(Layout::row_major));
  }
  m.graph.nodes = std::move(kept);
  return m;
}

Model without_identities(Model m) {
  const std::set<std::string> fixed = fixed_names(m.graph);
  std::vector<Graph::Node> kept;
  std::map<std::string, std::string> renamed;
  for (Graph::Node &n : m.graph.nodes) {
    for (std::string &i : n.inputs)
      if (const auto it = renamed.find(i); it != renamed.end()) i = it->second;
    const std::string from = passed_on(m, n);
    if (from.empty() || fixed.count(n.outputs[0])) {
      kept.push_back(std::move(n));
      continue;
    }
    renamed[n.outputs[0]] = from;
  }
  m.graph.nodes = std::move(kept);
  return m;
}

Model with_common_nodes_once(Model m) {
  const std::set<std::string> fixed = fixed_names(m.graph);
  std::vector<Graph::Node> kept;
  std::map<std::string, std::string> renamed;
  std::multimap<std::string, size_t> by_operator;
  for (Graph::Node &n : m.graph.nodes) {
    for (std::string &i : n.inputs)
      if (const auto it = renamed.find(i); it != renamed.end()) i = it->second;
    const bool outside =
        std::any_of(n.outputs.begin(), n.outputs.end(), [&](const auto &o) { return fixed.count(o) > 0; });
    const std::string key = n.operation + (n.inputs.empty() ? "" : " " + n.inputs[0]);
    const Graph::Node *twin = nullptr;
    if (!outside && !is_random(n.operation) && !has_graph(n)) {
      const auto [first, last] = by_operator.equal_range(key);
      for (auto it = first; it != last && !twin; ++it)
        if (is_same_computation(kept[it->second], n)) twin = &kept[it->second];
    }
    if (!twin) {
      by_operator.emplace(key, kept.size());
      kept.push_back(std::move(n));
      continue;
    }
    for (size_t o = 0; o < n.outputs.size(); ++o) renamed[n.outputs[o]] = twin->outputs[o];
  }
  m.graph.nodes = std::move(kept);
  return m;
}

Model with_folded_batch_norm(Model m) {
  Graph &g = m.graph;
  const std::set<std::string> fixed = fixed_names(g);
  for (size_t at = 0; at < g.nodes.size();) {
    const Graph::Node norm = g.nodes[at];
    Graph::Node *conv = nullptr;
    const bool inference = norm.operation == "BatchNormalization" && norm.domain.empty() && norm.inputs.size() == 5 &&
                           norm.attributes.integer("training_mode", 0) == 0 && norm.outputs.size() == 1;
    if (inference && g.uses(norm.inputs[0]) == 1 && !fixed.count(norm.inputs[0]))
      for (Graph::Node &n : g.nodes)
        if (n.operation == "Conv" && n.domain.empty() && n.outputs[0] == norm.inputs[0]) conv = &n;
    std::vector<const Tensor *> constants;
    if (conv) {
      for (size_t i = 1; i < 5; ++i) constants.push_back(constant_of(g, norm.inputs[i]));
      constants.push_back(constant_of(g, conv->inputs[1]));
      if (conv->inputs.size() > 2 && !conv->inputs[2].empty()) constants.push_back(constant_of(g, conv->inputs[2]));
    }
    const bool good = conv && std::all_of(constants.begin(), constants.end(),
                                          [](const Tensor *t) { return t && t->type() == Type::f32; });
    if (!good) {
      ++at;
      continue;
    }
    const std::vector<double> scale = constants[0]->reals(), shift = constants[1]->reals(),
                              mean = constants[2]->reals(), variance = constants[3]->reals();
    const double epsilon = norm.attributes.real("epsilon", 1e-5);
    const Tensor weights = constants[4]->in_layout(Layout::row_major).clone();
    const int64_t outputs = weights.extent(0), each = weights.size() / std::max<int64_t>(outputs, 1);
    const Tensor bias = Tensor::zeros({outputs});
    for (int64_t o = 0; o < outputs; ++o) {
      const auto c = static_cast<size_t>(o);
      const double factor = scale[c] / std::sqrt(variance[c] + epsilon);
      for (int64_t i = 0; i < each; ++i) {
        float &w = weights.data<float>()[o * each + i];
        w = static_cast<float>(w * factor);
      }
      const double old = constants.size() > 5 ? constants[5]->reals()[c] : 0;
      bias.data<float>()[o] = static_cast<float>((old - mean[c]) * factor + shift[c]);
    }
    const std::string w = g.fresh_name(conv->inputs[1] + ".folded"), b = g.fresh_name(norm.outputs[0] + ".bias");
    g.add_constant(w, weights);
    g.add_constant(b, bias);
    conv->inputs = {conv->inputs[0], w, b};
    conv->outputs[0] = norm.outputs[0];
    g.nodes.erase(g.nodes.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return m;
}

Model without_dead_code(Model m) {
  Graph &g = m.graph;
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

Model optimized(Model m) {
  using Pass = Model (*)(Model);
  static constexpr Pass passes[] = {with_folded_constants, without_identities, with_folded_batch_norm,
                                    with_common_nodes_once, without_dead_code};
  for (size_t before = m.graph.nodes.size() + 1; m.graph.nodes.size() < before;) {
    before = m.graph.nodes.size();
    for (Pass pass : passes) m = pass(std::move(m));
  }
  return m;
}

}  // namespace saltern
