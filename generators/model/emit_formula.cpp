#include <algorithm>

#include "generators/model/emitters.h"
#include "generators/model/merged_axes.h"

namespace saltern::generators {

using formula::Expression;
using formula::Value;
using formula::Values;
using Kind = Expression::Kind;

namespace {

bool has(Kind kind, const Expression &element) {
  bool found = false;
  formula::for_each_node(element, [&](const Expression::Node &n) { found |= n.kind == kind; });
  return found;
}

// With f32 in the place of 16 bits, which are computed in it: reductions become stages, which would be rounded.
Expression in_compute_types(const Expression &element) {
  const auto is_short = [](const Expression &e) { return e.type() == Type::f16 || e.type() == Type::bf16; };
  if (has(Kind::bits, element)) return element;
  return cast(element.type(), formula::transformed(element, [&](const Expression &at) -> Expression {
                if (!is_short(at)) return {};
                if (at->kind == Kind::constant) return formula::constant(Type::f32, at->real);
                if (at->kind != Kind::reduce) return cast(Type::f32, at);
                Expression::Node n = *at.get();
                n.type = Type::f32;
                return interned(std::move(n));
              }));
}

// In the order of memory, the outermost first.
std::vector<size_t> dimensions_of(const Graph::Value &v, Dimensions which) {
  std::vector<size_t> dimensions;
  for (int d : memory_order(v)) {
    const auto dimension = static_cast<size_t>(d);
    if (which == Dimensions::all || v.shape[dimension] != 1) dimensions.insert(dimensions.begin(), dimension);
  }
  return dimensions;
}

std::vector<Expression> extents_of(const Graph::Value &v, Dimensions which) {
  std::vector<Expression> extents;
  for (size_t d : dimensions_of(v, which)) extents.emplace_back(v.shape[d]);
  if (extents.empty()) extents.emplace_back(1);  // a single element
  return extents;
}

// The formula of a node as Values of what lies in memory.
MergedAxes values_of(const Expression &element, const Graph::Value &result, const std::vector<Graph::Value> &operands) {
  // Formulas that only move elements read and write parts of joins in their places, which asks for all dimensions
  // (homes.h). Others have as few as tell their indices apart: rows are as long as memory allows.
  const bool reduces = has(Kind::reduce, element);
  const Dimensions which = reduces ? Dimensions::of_several : Dimensions::all;
  Values inputs;
  for (const Graph::Value &v : operands)
    inputs.push_back(stored_input("operand_" + std::to_string(inputs.size()), v, which));
  const Expression stored = formula::transformed(element, [&](const Expression &at) -> Expression {
    if (at->kind != Kind::load) return {};
    const auto operand = static_cast<size_t>(at->number);
    if (elements(operands.at(operand).shape) == 0) return formula::constant(at.type(), 0);  // nothing is read of it
    return stored_element(inputs[operand], operands[operand], at->arguments, which);
  });
  const Value y = stored_result(
      result, [&](const formula::Axes &at) { return with_axes(stored, at); }, which);
  Values read;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (elements(operands[i].shape) > 0) read.push_back(inputs[i]);
  return reduces ? merged_axes(read, {y}) : MergedAxes{read, {y}};
}

}  // namespace

std::vector<int> innermost_first(const Value &v) {
  std::vector<int> extents;
  for (int d = v.rank(); d-- > 0;) extents.push_back(static_cast<int>(v.extent(d)->integer));
  return extents;
}

Value stored_input(const std::string &name, const Graph::Value &v, Dimensions which) {
  return formula::input(name, extents_of(v, which), v.type);
}

Expression stored_element(const Value &stored, const Graph::Value &v, const formula::Axes &indices, Dimensions which) {
  formula::Axes at;
  for (size_t d : dimensions_of(v, which)) at.push_back(indices.at(d));
  return stored.at(at.empty() ? formula::Axes{0} : at);
}

Value stored_result(const Graph::Value &v, const formula::Element &element, Dimensions which) {
  return formula::compute("element", extents_of(v, which), [&](const formula::Axes &at) {
    const std::vector<size_t> dimensions = dimensions_of(v, which);
    formula::Axes axes(v.shape.size(), Expression(0));
    for (size_t d = 0; d < dimensions.size(); ++d) axes[dimensions[d]] = at[d];
    return element(axes);
  });
}

std::function<Build(const Halide::Target &)> built_by_structure(const std::function<MergedAxes()> &formula) {
  return [formula](const Halide::Target &target) {
    const MergedAxes of = formula();
    Call call;
    for (const Value &v : of.inputs) call.emplace_back(innermost_first(v));
    Build b(target, Build::Schedule::own, call);
    for (const Value &v : of.inputs) b.declare(v);
    b.output("y", of.outputs[0]);
    b.finish(nullptr);
    return b;
  };
}

EmittedKernel emit_formula(const Graph &graph, const Group &group) {
  const Graph::Node &node = group.anchor();
  const Graph::Value result = graph.value(group.output());
  Expression element = node.attributes.expression("element");
  std::vector<Graph::Value> operands;
  EmittedKernel k;
  for (const std::string &name : node.inputs) {
    operands.push_back(graph.value(name));
    if (elements(operands.back().shape) > 0) k.arguments.push_back(argument(graph, name));
  }
  k.arguments.push_back(argument(graph, group.output()));
  if (has(Kind::reduce, element)) {
    element = in_compute_types(element);
    const MergedAxes seen = values_of(element, result, operands);
    for (size_t i = 0; i < seen.inputs.size(); ++i) k.arguments[i].extents = innermost_first(seen.inputs[i]);
    k.arguments.back().extents = innermost_first(seen.outputs[0]);
    k.build = built_by_structure([seen] { return seen; });
  } else {
    k.build = built_by_structure([element, result, operands] { return values_of(element, result, operands); });
  }
  k.key = "formula " + to_string(element) + key_of(result);
  for (const Graph::Value &v : operands) k.key += key_of(v);
  return k;
}

}  // namespace saltern::generators
