#include "runtime/onnx/run_model.h"

#include "runtime/onnx/control_flow.h"
#include "runtime/onnx/flat_values.h"
#include "runtime/tensor/parts.h"

namespace saltern {

namespace {

constexpr int64_t most_turns = int64_t{1} << 24;  // a loop that runs longer is taken for one that never ends

class Runner : public GraphWalk<HostValue> {
 public:
  using GraphWalk::GraphWalk;

  HostValues run(const HostValues &inputs) {
    const Graph &g = model().graph;
    for (const auto &[name, value] : inputs) {
      if (std::find(g.inputs.begin(), g.inputs.end(), name) == g.inputs.end())
        fail("the model has no input '", name, "'");
      check_input(name, g.values.at(name), value);
    }
    Values given;
    for (const std::string &name : g.inputs) {
      const auto it = inputs.find(name);
      const Graph::Value &v = g.value(name);
      if (it == inputs.end() && !v.constant.defined() && !is_optional(v)) fail("the input '", name, "' is missing");
      given.push_back(it != inputs.end() ? it->second : v.constant.defined() ? HostValue(v.constant) : HostValue());
    }
    const Values results = walk(g, given, nullptr);
    HostValues outputs;
    for (size_t i = 0; i < results.size(); ++i) {
      check_output(g.outputs[i], g, results[i]);
      outputs[g.outputs[i]] = results[i];
    }
    return outputs;
  }

 private:
  friend class ControlFlow<Runner>;

  // Shapes that files declare for outputs are often wrong and harm nobody; a type that is wrong is read as rubbish.
  static void check_output(const std::string &name, const Graph &g, const HostValue &value) {
    const auto declared = g.values.find(name);
    if (declared == g.values.end() || declared->second.container != Graph::Container::tensor || !value.is_tensor())
      return;
    if (value.tensor().type() != declared->second.type)
      fail("the output '", name, "' is ", facts(value.tensor().type()).name, "; the model declares it as ",
           facts(declared->second.type).name);
  }

  HostValue constant(const std::string &, const Tensor &value) override { return value; }

  Values apply(const Operator &op, const Graph::Node &n, int64_t opset, const Values &inputs) override {
    return compute_operator(op, n, opset, inputs);
  }

  Values control_flow(const Graph::Node &n, int64_t opset, const Values &inputs, const Names &here) override {
    return ControlFlow<Runner>(*this, n, here).results(opset, inputs);
  }

  // ---- What loops ask.
  bool absent(const HostValue &v) const { return v.is_empty(); }
  bool truth(const HostValue &v) const {
    const Tensor &t = v.tensor();
    if (t.type() != Type::boolean || t.size() != 1) fail("a condition is expected to be one boolean");
    return *t.data<bool>();
  }
  int64_t count(const HostValue &v) const { return v.tensor().integers().at(0); }
  const Shape &shape(const HostValue &v) const { return v.tensor().shape(); }
  HostValue taken(const Graph::Node &, const HostValue &v, int axis, int64_t i) {
    return saltern::taken(v.tensor(), axis, i);
  }
  HostValue stacked(const Graph::Node &, const Values &parts, int64_t axis) {
    std::vector<Tensor> tensors;
    for (const HostValue &p : parts) tensors.push_back(p.tensor());
    return saltern::stacked(tensors, axis);
  }
  const Values *elements(const HostValue &v) const { return v.is_sequence() ? &v.sequence() : nullptr; }
  HostValue sequence(Values elements, Type type) const { return HostValue(std::move(elements), type); }
  void begin(int64_t turn) const {
    if (turn == most_turns) fail("a loop of more than ", most_turns, " turns");
  }
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
  for (const std::string &i : model.graph.given())
    if (!model.graph.value(i).constant.defined()) all.push_back(i);
  return all;
}

void check_input(const std::string &name, const Graph::Value &v, const HostValue &value) {
  if (v.container == Graph::Container::tensor && v.ranked)
    check_input(name, v, value.tensor().type(), value.tensor().shape());
}

void check_input(const std::string &name, const Graph::Value &v, Type type, const Shape &shape) {
  if (v.container != Graph::Container::tensor || !v.ranked) return;
  if (type != v.type || !v.can_be(shape))
    fail("the input '", name, "' is ", facts(type).name, " ", to_string(shape), "; the model expects ",
         facts(v.type).name, " ", to_string(v.shape));
}

HostValues run_model(const Model &model, const HostValues &inputs) {
  check_operators(model);
  return Runner(model).run(inputs);
}

}  // namespace saltern
