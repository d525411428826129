#include <algorithm>
#include <map>

#include "dsl/structure.h"
#include "generators/model/emitters.h"
#include "generators/model/formula_code.h"

namespace saltern::generators {

namespace {

using formula::Expression;
using Kind = Expression::Kind;

// Whether a formula reads its operands only where broadcasting puts them: then it can follow another in one kernel.
bool is_pointwise(const Graph &graph, const Graph::Node &node) {
  const size_t rank = graph.value(node.outputs[0]).shape.size();
  bool pointwise = true;
  formula::for_each_node(node.attributes.expression("element"), [&](const Expression::Node &n) {
    if (n.kind == Kind::reduce) pointwise = false;
    if (n.kind != Kind::load) return;
    const Shape &shape = graph.value(node.inputs[static_cast<size_t>(n.number)]).shape;
    pointwise &= shape.size() <= rank;  // broadcasting takes no dimension away, not even one of 1
    for (size_t d = 0; d < n.arguments.size(); ++d) {
      const Expression::Node &i = *n.arguments[d].get();
      const bool repeated = shape[d] == 1 && i.kind == Kind::constant && i.integer == 0;
      const bool here = i.kind == Kind::axis && static_cast<size_t>(i.number) == d + rank - shape.size();
      pointwise &= repeated || here;
    }
  });
  // What is computed from the place itself, as a range is, stays alone.
  return pointwise && !reads_its_place(node.attributes.expression("element"));
}

}  // namespace

bool reads_its_place(const Expression &element) {
  bool found = false;
  formula::descend(element, [&](const Expression::Node &n) {
    found |= n.kind == Kind::axis;
    return n.kind != Kind::load;
  });
  return found;
}

bool is_elementwise(const Graph &graph, const Graph::Node &node) {
  return node.operation == "formula" && !node.inputs.empty() && elements(graph.value(node.outputs[0]).shape) > 0 &&
         is_pointwise(graph, node);
}

Halide::Expr apply_elementwise(const Graph &graph, const std::vector<Graph::Node> &nodes, size_t first,
                               Halide::Expr value, const std::string &value_name,
                               const std::function<Halide::Expr(const std::string &)> &read) {
  std::string at = value_name;
  for (size_t i = first; i < nodes.size(); ++i) {
    const Graph::Node &n = nodes[i];
    const auto operand = [&](size_t k) { return n.inputs[k] == at ? value : read(n.inputs[k]); };
    const Graph::Value &result = graph.value(n.outputs[0]);
    std::vector<Shape> shapes;
    for (const std::string &name : n.inputs) shapes.push_back(graph.value(name).shape);
    // A pointwise formula looks at its place for nothing but its operands, which stand there already.
    const std::vector<Halide::Expr> nowhere(result.shape.size(), Halide::Expr(0));
    value = formula_code(n.attributes.expression("element"), nowhere, result.shape, shapes,
                         [&](int k, const std::vector<Halide::Expr> &) { return operand(static_cast<size_t>(k)); });
    at = n.outputs[0];
  }
  return value;
}

std::vector<std::string> other_operands(const std::vector<Graph::Node> &nodes, size_t first,
                                        const std::string &value_name) {
  std::vector<std::string> others;
  std::string at = value_name;
  for (size_t i = first; i < nodes.size(); ++i) {
    for (const std::string &name : nodes[i].inputs)
      if (name != at && std::find(others.begin(), others.end(), name) == others.end()) others.push_back(name);
    at = nodes[i].outputs[0];
  }
  return others;
}

std::string epilogue_key(const std::vector<Graph::Node> &nodes, size_t first, const std::string &value_name) {
  const std::vector<std::string> others = other_operands(nodes, first, value_name);
  std::string key, at = value_name;
  for (size_t i = first; i < nodes.size(); ++i) {
    key += " " + to_string(nodes[i].attributes.expression("element"));
    for (const std::string &name : nodes[i].inputs)
      key += name == at ? "@" : std::to_string(std::find(others.begin(), others.end(), name) - others.begin());
    at = nodes[i].outputs[0];
  }
  return key;
}

std::string key_of(const Graph::Value &v) {
  return " " + std::string(facts(v.type).name) + saltern::to_string(v.shape) + (is_channels_last(v) ? "c" : "");
}

namespace {

// Rounded as if it were stored, which leaves an infinity where the type has one; a cast to 8 bits does not.
formula::Value as_stored(const formula::Value &v) {
  if (compute_type(v.type()) == storage_type(v.type())) return v;
  if (!facts(v.type()).is_small_real()) return cast(v.type(), cast(Type::f32, v));
  const Type code = facts(v.type()).bits == 4 ? Type::u4 : Type::u8;
  return formula::inlined(v.extents(),
                          [&](const formula::Axes &at) { return bits_as(v.type(), bits_as(code, v.at(at))); });
}

// What an elementwise node makes of these operands.
formula::Value value_of(const Graph::Node &node, const Graph::Value &result, const formula::Values &operands) {
  return as_stored(formula::inlined({result.shape.begin(), result.shape.end()}, [&](const auto &) {
    return with_operands(node.attributes.expression("element"), operands);
  }));
}

// What the nodes of a group make of operands that lie in memory.
MergedAxes values_of(const Graph &graph, const Group &group, const std::vector<std::string> &operands) {
  formula::Values inputs;
  std::map<std::string, formula::Value> made;
  for (const std::string &name : operands) {
    const Graph::Value &v = graph.value(name);
    inputs.push_back(stored_input("operand_" + std::to_string(inputs.size()), v));
    made[name] = formula::inlined({v.shape.begin(), v.shape.end()},
                                  [&](const formula::Axes &at) { return stored_element(inputs.back(), v, at); });
  }
  for (const Graph::Node &n : group.nodes) {
    formula::Values of;
    for (const std::string &name : n.inputs) of.push_back(made.at(name));
    made[n.outputs[0]] = value_of(n, graph.value(n.outputs[0]), of);
  }
  const formula::Value &y = made.at(group.output());
  return {inputs, {stored_result(graph.value(group.output()), [&](const formula::Axes &at) { return y.at(at); })}};
}

}  // namespace

EmittedKernel emit_elementwise(const Graph &graph, const Group &group) {
  const Graph::Value &result = graph.value(group.output());
  // No value comes before the chain: all operands are others.
  const std::vector<std::string> operands = other_operands(group.nodes, 0, "");
  EmittedKernel k;
  k.key = "elementwise" + key_of(result) + epilogue_key(group.nodes, 0, "");
  for (const std::string &name : operands) {
    const Graph::Value &v = graph.value(name);
    if (v.shape.size() > result.shape.size()) fail("'", name, "' has a higher rank than the result");
    k.key += key_of(v);
    k.arguments.push_back(argument(graph, name));
    if (!v.constant.defined() && key_of(v) == key_of(result))
      k.in_place.push_back(static_cast<int>(k.arguments.size()) - 1);
  }
  k.arguments.push_back(argument(graph, group.output()));
  k.can_fail = false;
  k.build = built_by_structure([&graph, group, operands] { return values_of(graph, group, operands); });
  return k;
}

}  // namespace saltern::generators
