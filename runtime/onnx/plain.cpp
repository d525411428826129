#include "runtime/onnx/plain.h"

#include <algorithm>
#include <optional>

#include "runtime/graph/executor.h"
#include "runtime/onnx/export.h"
#include "runtime/onnx/lower_model.h"
#include "runtime/onnx/operators/lowering.h"

namespace saltern {

namespace {

// The library's kernels are for f32; in f64, operators are lowered to formulas.
Type widened(Type type) { return type == Type::f32 ? Type::f64 : type; }

Tensor widened(const Tensor &t) {
  if (t.type() != Type::f32) return t;
  const Tensor from = t.in_layout(Layout::row_major), to = Tensor::empty(t.shape(), Type::f64);
  std::copy_n(from.data<float>(), from.size(), to.data<double>());
  return to;
}

Tensor narrowed(const Tensor &t, Type type) {
  if (t.type() == type) return t;
  const Tensor from = t.in_layout(Layout::row_major), to = Tensor::empty(t.shape(), type);
  std::transform(from.data<double>(), from.data<double>() + from.size(), to.data<float>(),
                 [](double v) { return static_cast<float>(v); });
  return to;
}

// Formulas already, or elements that only move.
bool is_plain(const Graph::Node &node) {
  return node.operation == "formula" || node.operation == "reshape" || node.operation == "transpose";
}

// The node alone, as formulas of f64; nothing where ONNX has no operator that does the same.
std::optional<Graph> formulas_of(const Graph &graph, const Graph::Node &node) {
  Graph alone;
  for (const std::string &i : node.inputs)
    if (!alone.values.count(i)) alone.add_input(i, graph.value(i).shape, widened(graph.value(i).type));
  for (const std::string &o : node.outputs) alone.values[o] = {graph.value(o).shape, widened(graph.value(o).type), {}};
  alone.nodes = {node};
  alone.outputs = {node.outputs[0]};
  try {
    Graph formulas = lower_model(onnx_of(alone));
    // Windows may reach further here than ONNX lets them.
    if (formulas.value(node.outputs[0]).shape == graph.value(node.outputs[0]).shape) return formulas;
    return std::nullopt;
  } catch (const Unsupported &) {
    return std::nullopt;
  }
}

}  // namespace

bool has_plain_form(const Graph &graph, const Graph::Node &node) {
  return is_plain(node) || (node.outputs.size() == 1 && formulas_of(graph, node));
}

std::vector<Tensor> compute_plainly(const Graph &graph, const Graph::Node &node, const std::vector<Tensor> &inputs) {
  // Operations of several outputs are for training.
  if (is_plain(node) || node.outputs.size() != 1) return compute_node(graph, node, inputs);
  const std::optional<Graph> formulas = formulas_of(graph, node);
  if (!formulas) return compute_node(graph, node, inputs);
  std::map<std::string, Tensor> given;
  for (size_t i = 0; i < inputs.size(); ++i) given[node.inputs[i]] = widened(inputs[i]);
  return {narrowed(run(*formulas, given).at(node.outputs[0]), graph.value(node.outputs[0]).type)};
}

std::map<std::string, Tensor> run_plainly(const Graph &graph, const std::map<std::string, Tensor> &inputs) {
  RunHooks hooks;
  hooks.compute = compute_plainly;
  return run(graph, inputs, hooks);
}

}  // namespace saltern
