#include <algorithm>

#include "algorithms/binary.h"
#include "algorithms/unary.h"
#include "generators/model/emitters.h"
#include "schedules/patterns/elementwise.h"

namespace saltern::generators {

namespace {

template <typename Table>
bool in_table(const Table &table, const std::string &name) {
  return std::any_of(table.begin(), table.end(), [&](const auto &row) { return row.name == name; });
}

// An operand read at the element `at` (by public dimension) of a result of another rank: broadcast as usual, shapes
// aligned at their ends.
Halide::Expr read_broadcast(const dsl::Tensor &operand, const Shape &shape, const std::vector<Halide::Expr> &at) {
  std::vector<Halide::Expr> indices;
  const int missing = static_cast<int>(at.size() - shape.size());
  for (int d : memory_order(static_cast<int>(shape.size())))
    indices.push_back(shape[d] == 1 ? Halide::Expr(0) : at[d + missing]);
  return operand(indices);
}

}  // namespace

bool is_elementwise(const Graph &graph, const Graph::Node &node) {
  if (node.outputs.size() != 1 || graph.value(node.outputs[0]).shape.empty()) return false;
  if (node.inputs.size() == 1) return in_table(algorithms::unary_functions(), node.operation);
  return node.inputs.size() == 2 && in_table(algorithms::binary_functions(), node.operation);
}

Halide::Expr apply_elementwise(const std::vector<Graph::Node> &nodes, size_t first, Halide::Expr value,
                               const std::string &value_name,
                               const std::function<Halide::Expr(const std::string &)> &read) {
  std::string at = value_name;
  for (size_t i = first; i < nodes.size(); ++i) {
    const Graph::Node &n = nodes[i];
    const auto operand = [&](size_t k) { return n.inputs[k] == at ? value : read(n.inputs[k]); };
    value = n.inputs.size() == 1 ? algorithms::find_unary(n.operation).value(operand(0))
                                 : algorithms::find_binary(n.operation).value(operand(0), operand(1));
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
    key += " " + nodes[i].operation;
    for (const std::string &name : nodes[i].inputs)
      key += name == at ? "@" : std::to_string(std::find(others.begin(), others.end(), name) - others.begin());
    at = nodes[i].outputs[0];
  }
  return key;
}

EmittedKernel emit_elementwise(const Graph &graph, const Group &group) {
  const Shape out_shape = graph.value(group.output()).shape;
  // No value comes before the chain: all operands are others.
  const std::vector<std::string> operands = other_operands(group.nodes, 0, "");
  EmittedKernel k;
  k.key = "elementwise " + saltern::to_string(out_shape) + epilogue_key(group.nodes, 0, "");
  Call call;
  std::vector<Shape> shapes;
  for (const std::string &name : operands) {
    const Shape &shape = graph.value(name).shape;
    if (shape.size() > out_shape.size()) fail("'", name, "' has a higher rank than the result");
    shapes.push_back(shape.empty() ? Shape{1} : shape);
    k.key += " " + saltern::to_string(shape);
    k.arguments.push_back(argument(graph, name, memory_extents(shapes.back())));
    call.emplace_back(k.arguments.back().extents);
  }
  k.arguments.push_back(argument(graph, group.output(), memory_extents(out_shape)));

  k.can_fail = false;
  k.build = [nodes = group.nodes, operands, shapes, call, out_shape](const Halide::Target &target) {
    Build b(target, Build::Schedule::own, call);
    std::map<std::string, dsl::Tensor> inputs;
    for (size_t i = 0; i < operands.size(); ++i)
      inputs[operands[i]] = b.input("operand_" + std::to_string(i), static_cast<int>(shapes[i].size()));
    std::vector<Halide::Var> vars;
    std::vector<Halide::Expr> at(out_shape.size()), extents;
    for (int d : memory_order(static_cast<int>(out_shape.size()))) {
      vars.emplace_back("d" + std::to_string(d));
      at[d] = vars.back();
      extents.emplace_back(static_cast<int>(out_shape[d]));
    }
    const auto read = [&](const std::string &name) {
      const size_t i = std::find(operands.begin(), operands.end(), name) - operands.begin();
      return read_broadcast(inputs.at(name), shapes[i], at);
    };
    Halide::Func y("chain");
    y(vars) = apply_elementwise(nodes, 0, Halide::Expr(), "", read);
    const Halide::Func out = b.output("y", {y, extents});
    b.schedule([&](const Machine &m) { schedules::elementwise(out, m); });
    b.finish(nullptr);
    return b;
  };
  return k;
}

}  // namespace saltern::generators
