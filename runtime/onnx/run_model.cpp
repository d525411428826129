#include "runtime/onnx/run_model.h"

#include <set>

#include "runtime/graph/executor.h"
#include "runtime/onnx/control_flow.h"
#include "runtime/operators/operators.h"

namespace saltern {

namespace {

// The names that one graph's nodes see: its own values, then those of the graphs around it.
struct Environment {
  HostValues values;
  const Environment *outer = nullptr;

  const HostValue *find(const std::string &name) const {
    for (const Environment *e = this; e; e = e->outer) {
      const auto it = e->values.find(name);
      if (it != e->values.end()) return &it->second;
    }
    return nullptr;
  }
};

class Runner : public GraphRunner {
 public:
  explicit Runner(const Model &model) : model_(model) {}

  HostValues run(const HostValues &inputs) {
    Environment environment;
    const Graph &g = model_.graph;
    for (const auto &[name, value] : inputs) {
      if (std::find(g.inputs.begin(), g.inputs.end(), name) == g.inputs.end())
        fail("the model has no input '", name, "'");
      check(name, g.values.at(name), value);
    }
    std::vector<HostValue> given;
    for (const std::string &name : g.inputs) {
      const auto it = inputs.find(name);
      const Graph::Value &v = g.value(name);
      const bool may_lack = v.constant.defined() || v.container == Graph::Container::optional ||
                            v.container == Graph::Container::optional_sequence;
      if (it == inputs.end() && !may_lack) fail("the input '", name, "' is missing");
      given.push_back(it != inputs.end() ? it->second : v.constant.defined() ? HostValue(v.constant) : HostValue());
    }
    opsets_ = &model_.opsets;
    const std::vector<HostValue> results = run_graph(g, given, nullptr);
    HostValues outputs;
    for (size_t i = 0; i < results.size(); ++i) outputs[g.outputs[i]] = results[i];
    return outputs;
  }

  std::vector<HostValue> run_body(const Graph &g, const std::vector<HostValue> &inputs, const void *scope) override {
    return run_graph(g, inputs, static_cast<const Environment *>(scope));
  }

 private:
  static constexpr int deepest_call = 200;

  static void check(const std::string &name, const Graph::Value &v, const HostValue &value) {
    if (v.container != Graph::Container::tensor || !v.ranked) return;
    const Tensor &t = value.tensor();
    bool fits = t.type() == v.type && t.shape().size() == v.shape.size();
    for (size_t d = 0; fits && d < v.shape.size(); ++d) fits = v.shape[d] < 0 || v.shape[d] == t.shape()[d];
    if (!fits)
      fail("the input '", name, "' is ", facts(t.type()).name, " ", to_string(t.shape()), "; the model expects ",
           facts(v.type).name, " ", to_string(v.shape));
  }

  std::vector<HostValue> run_graph(const Graph &g, const std::vector<HostValue> &inputs, const Environment *outer) {
    Environment here;
    here.outer = outer;
    for (const auto &[name, v] : g.values)
      if (v.constant.defined()) here.values[name] = v.constant;
    if (inputs.size() > g.inputs.size()) fail(inputs.size(), " inputs for a graph of ", g.inputs.size());
    for (size_t i = 0; i < g.inputs.size(); ++i) here.values[g.inputs[i]] = i < inputs.size() ? inputs[i] : HostValue();
    std::map<std::string, int> readers = count_readers(g);
    for (const Graph::Node &n : g.nodes) {
      run_node(n, here);
      // A value's memory is freed after its last reader.
      for (const std::string &i : n.inputs)
        if (auto it = readers.find(i); it != readers.end() && --it->second == 0) here.values.erase(i);
    }
    std::vector<HostValue> results;
    for (const std::string &o : g.outputs) {
      const HostValue *v = here.find(o);
      if (!v) fail("nothing made the output '", o, "'");
      results.push_back(*v);
    }
    return results;
  }

  // Of values that only this graph's nodes read by their inputs; an inner graph may read the others at any time.
  static std::map<std::string, int> count_readers(const Graph &g) {
    std::map<std::string, int> readers;
    for (const Graph::Node &n : g.nodes) {
      for (const auto &[name, a] : n.attributes)
        if (std::holds_alternative<SharedGraph>(a)) return {};
      for (const std::string &i : n.inputs) ++readers[i];
    }
    for (const std::string &o : g.outputs) readers.erase(o);
    return readers;
  }

  void run_node(const Graph::Node &n, Environment &here) {
    std::vector<HostValue> inputs;
    try {
      for (const std::string &i : n.inputs) {
        const HostValue *v = i.empty() ? nullptr : here.find(i);
        if (!i.empty() && !v) fail("its input '", i, "' was not made");
        inputs.push_back(v ? *v : HostValue());
      }
      const std::vector<HostValue> results = compute(n, inputs, here);
      for (size_t o = 0; o < n.outputs.size(); ++o) {
        if (n.outputs[o].empty()) continue;
        if (o >= results.size()) fail("it makes no output ", o);
        here.values[n.outputs[o]] = results[o];
      }
    } catch (const Unsupported &e) {
      unsupported(describe(n), ": ", e.what());
    } catch (const std::exception &e) {
      fail(describe(n), ": ", e.what());
    }
  }

  std::vector<HostValue> compute(const Graph::Node &n, const std::vector<HostValue> &inputs, const Environment &here) {
    if (is_control_flow(n)) return run_control_flow(n, opset(n.domain), inputs, *this, &here);
    if (const ModelFunction *f = model_.function(n.domain, n.operation)) return call(*f, n, inputs);
    const Operator *op = find_operator(n.domain, n.operation);
    if (!op) unsupported("there is no such operator");
    return compute_operator(*op, n, opset(n.domain), inputs);
  }

  std::vector<HostValue> call(const ModelFunction &f, const Graph::Node &n, const std::vector<HostValue> &inputs) {
    if (++depth_ > deepest_call) fail("functions call each other more than ", deepest_call, " deep");
    Attributes attributes = f.defaults;
    for (const auto &[name, a] : n.attributes) attributes.set(name, a);
    const Opsets *outer = opsets_;
    opsets_ = &f.opsets;
    const Graph body = with_attributes(f.body, attributes);
    std::vector<HostValue> results = run_graph(body, inputs, nullptr);
    opsets_ = outer;
    --depth_;
    return results;
  }

  int64_t opset(const std::string &domain) const {
    const auto it = opsets_->find(domain);
    return it == opsets_->end() ? 1 : it->second;
  }

  const Model &model_;
  const Opsets *opsets_ = nullptr;
  int depth_ = 0;
};

void find_unknown(const Model &model, const Graph &g, std::vector<std::string> &unknown) {
  for (const Graph::Node &n : g.nodes) {
    for (const auto &[name, a] : n.attributes)
      if (const auto *inner = std::get_if<SharedGraph>(&a)) find_unknown(model, **inner, unknown);
    if (!is_control_flow(n) && !model.function(n.domain, n.operation) && !find_operator(n.domain, n.operation))
      unknown.push_back(describe(n));
  }
}

}  // namespace

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

void check_operators(const Model &model) {
  std::vector<std::string> unknown;
  find_unknown(model, model.graph, unknown);
  for (const ModelFunction &f : model.functions) find_unknown(model, f.body, unknown);
  if (unknown.empty()) return;
  std::string all;
  for (const std::string &u : unknown) all += (all.empty() ? "" : ", ") + u;
  unsupported(unknown.size() == 1 ? "an operator is not supported: " : "operators are not supported: ", all);
}

std::vector<std::string> required_inputs(const Model &model) {
  std::vector<std::string> all;
  for (const std::string &i : model.graph.inputs)
    if (!model.graph.value(i).constant.defined()) all.push_back(i);
  return all;
}

HostValues run_model(const Model &model, const HostValues &inputs) {
  check_operators(model);
  return Runner(model).run(inputs);
}

}  // namespace saltern
