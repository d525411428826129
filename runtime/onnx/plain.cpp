#include "runtime/onnx/plain.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "runtime/formula/evaluate_values.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/formula_node.h"
#include "runtime/onnx/export.h"
#include "runtime/onnx/lower_model.h"
#include "runtime/onnx/operators/wide_numbers.h"

namespace saltern {

namespace {

// The library's kernels are for f32; in f64, operators are lowered to formulas.
Type widened(Type type) { return type == Type::f32 || type == Type::f16 || type == Type::bf16 ? Type::f64 : type; }

formula::Expression widened(const formula::Expression &e) {
  using Kind = formula::Expression::Kind;
  return transformed(e, [](const formula::Expression &at) -> formula::Expression {
    const Type type = widened(at.type());
    if (type == at.type()) return {};
    switch (at->kind) {
      case Kind::constant:
        return formula::constant(type, at->real);
      case Kind::carried:
        return formula::carried(type);
      case Kind::load:
        return formula::load(at->number, type, at->arguments);
      case Kind::cast:
        return formula::cast(type, at->arguments[0]);
      case Kind::reduce: {  // of a body that is wide already
        formula::Expression::Node n = *at.get();
        n.type = type;
        return formula::interned(std::move(n));
      }
      default:
        return {};
    }
  });
}

// Formulas already, or elements that only move.
bool is_plain(const Graph::Node &node) {
  return is_formula_node(node) || node.operation == "reshape" || node.operation == "transpose";
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

// Puts the formulas of a node into a graph.
void splice(const Graph &graph, const Graph::Node &node, Graph &to) {
  const std::optional<Graph> formulas = formulas_of(graph, node);
  if (!formulas) unsupported(describe(node), " cannot be computed in f64: there is no formula for it");
  std::map<std::string, std::string> names;
  for (const std::string &i : node.inputs) names[i] = i;
  names[node.outputs[0]] = node.outputs[0];
  for (const auto &[name, v] : formulas->values) {
    if (names.count(name)) continue;
    names[name] = to.fresh_name(node.outputs[0] + "/" + name);
    to.values[names[name]] = v;
  }
  for (Graph::Node n : formulas->nodes) {
    for (std::string &i : n.inputs) i = names.at(i);
    for (std::string &o : n.outputs) o = names.at(o);
    to.nodes.push_back(std::move(n));
  }
}

}  // namespace

Graph in_f64(const Graph &graph) {
  Graph wide = graph;
  for (auto &[name, v] : wide.values) {
    v.type = widened(v.type);
    if (v.constant.defined()) v.constant = converted(v.constant, v.type);
  }
  wide.nodes.clear();
  for (Graph::Node n : graph.nodes) {
    if (is_formula_node(n)) {
      try {
        for (const auto &[name, a] : Attributes(n.attributes))
          if (const auto *e = std::get_if<formula::Expression>(&a)) n.attributes.set(name, widened(*e));
      } catch (const std::invalid_argument &e) {
        unsupported(describe(n), " cannot be computed in f64: ", e.what());
      }
    }
    if (is_plain(n))
      wide.nodes.push_back(std::move(n));
    else
      splice(graph, n, wide);
  }
  validate(wide);
  return wide;
}

bool has_plain_form(const Graph &graph, const Graph::Node &node) {
  return is_plain(node) || (node.outputs.size() == 1 && formulas_of(graph, node));
}

std::vector<Tensor> compute_plainly(const Graph &graph, const Graph::Node &node, const std::vector<Tensor> &inputs) {
  if (is_formula_node(node)) return {evaluate(formula_of(graph, node), inputs)};
  // Operations of several outputs are for training.
  if (is_plain(node) || node.outputs.size() != 1) return compute_node(graph, node, inputs);
  const std::optional<Graph> formulas = formulas_of(graph, node);
  if (!formulas) return compute_node(graph, node, inputs);
  std::map<std::string, Tensor> given;
  for (size_t i = 0; i < inputs.size(); ++i) given[node.inputs[i]] = converted(inputs[i], widened(inputs[i].type()));
  return {converted(run_plainly(*formulas, given).at(node.outputs[0]), graph.value(node.outputs[0]).type)};
}

std::map<std::string, Tensor> run_plainly(const Graph &graph, const std::map<std::string, Tensor> &inputs) {
  RunHooks hooks;
  hooks.compute = compute_plainly;
  return run(graph, inputs, hooks);
}

}  // namespace saltern
