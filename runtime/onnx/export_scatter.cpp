// Sums at places that data says, in ONNX: values and places are formulas of their own, and a ScatterND adds them up.

#include "runtime/graph/formula_node.h"
#include "runtime/onnx/net_export.h"

namespace saltern {

namespace {

using formula::Expression;

constexpr char scattered[] = "scattered_values";  // of values, and of one place for each dimension of the result

// What lies outside of the result is 0, added somewhere inside.
Graph::Node apart(Graph &to, const Graph::Node &scatter) {
  const formula::ExactFormula f = formula_of(to, scatter);
  const auto part = [&](const char *what, const Expression &e) {
    return to.add_node("formula", scatter.inputs, to.fresh_name(scatter.outputs[0] + what), f.space, {{"element", e}},
                       e.type());
  };
  Expression value = f.element;
  std::vector<Expression> places;
  for (size_t d = 0; d < f.shape.size(); ++d) {
    if (!f.targets[d].defined()) {
      places.push_back(formula::axis(static_cast<int>(d)));
      continue;
    }
    const Expression at = cast(Type::i64, f.targets[d]);
    value = select(at >= 0 && at < f.shape[d], value, formula::constant(f.type, 0));
    places.push_back(max(min(at, f.shape[d] - 1), 0));
  }
  std::vector<std::string> inputs = {part(".values", value)};
  for (const Expression &e : places) inputs.push_back(part(".place", e));
  return {scattered, {}, inputs, scatter.outputs};
}

}  // namespace

Graph with_scattered_values(Graph net) {
  const std::vector<Graph::Node> nodes = std::move(net.nodes);
  net.nodes.clear();
  for (const Graph::Node &n : nodes) {
    Graph::Node as_it_is = n.operation == "scatter_sum" ? apart(net, n) : n;
    net.nodes.push_back(std::move(as_it_is));
  }
  return net;
}

void export_scatter(NetExport &to, const Graph::Node &n) {
  const Graph::Value &y = to.value(n.outputs.at(0));
  const std::string stem = n.outputs[0] + ".scatter";
  const auto rank = static_cast<int64_t>(to.value(n.inputs.at(0)).shape.size());
  const auto made = [&](const char *op, const std::vector<std::string> &from, const Attributes &a = {}) {
    const std::string name = to.temporary(stem);
    to.add(op, from, {name}, a);
    return name;
  };
  std::vector<std::string> columns;
  for (size_t i = 1; i < n.inputs.size(); ++i)
    columns.push_back(made("Unsqueeze", {n.inputs[i], to.integers(stem, {rank})}));
  const std::string nothing =
      made("ConstantOfShape", {to.integers(stem, y.shape)}, {{"value", Tensor::full({1}, 0, y.type)}});
  to.add("ScatterND", {nothing, made("Concat", columns, {{"axis", rank}}), n.inputs[0]}, n.outputs,
         {{"reduction", std::string("add")}});
}

}  // namespace saltern
