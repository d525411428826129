#include "runtime/onnx/operators/lowering.h"

#include <set>

#include "algorithms/movement.h"
#include "runtime/graph/formula_node.h"
#include "runtime/onnx/operators/axis.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/tensor/memory.h"
#include "runtime/tensor/strided.h"

namespace saltern {

Operand::operator Value() const {
  if (!present()) return {};
  if (type == Type::text) unsupported("computes with texts");
  return formula::input(name, extents(shape), type);
}

Axes axes_of(const Shape &shape) {
  Axes at;
  for (size_t d = 0; d < shape.size(); ++d) at.push_back(formula::axis(static_cast<int>(d)));
  return at;
}

const Operand &Operand::tensor() const {
  if (sequence) fail("expected a tensor, got a sequence");
  return *this;
}

const std::vector<Operand> &Operand::elements() const {
  if (!sequence) fail("expected a sequence, got ", present() ? "a tensor" : "nothing");
  return *sequence;
}

Operand sequence_of(std::vector<Operand> elements, Type type) {
  return {{}, type, {}, {}, std::make_shared<const std::vector<Operand>>(std::move(elements))};
}

std::vector<Operand> tensors_in(const Operand &value) {
  if (!value.present()) return {};
  if (!value.sequence) return {value};
  std::vector<Operand> all;
  for (const Operand &e : *value.sequence)
    for (Operand &t : tensors_in(e)) all.push_back(std::move(t));
  return all;
}

std::string known_late(const Graph &graph, const Operand &value) {
  std::set<std::string> behind = {value.name};
  for (auto n = graph.nodes.rbegin(); n != graph.nodes.rend(); ++n)
    for (const std::string &o : n->outputs)
      if (behind.count(o)) behind.insert(n->inputs.begin(), n->inputs.end());
  std::string inputs;
  for (const std::string &i : graph.inputs)
    if (behind.count(i) && i != value.name) inputs += (inputs.empty() ? ", as the inputs '" : "', '") + i;
  return "('" + value.name + "') is known at run time only" + inputs + (inputs.empty() ? "" : "' are");
}

const Tensor &known_value(const Graph &graph, const Operand &value, const char *what) {
  if (!value.tensor().value.defined())
    unsupported(what, " ", known_late(graph, value), "; a compiled model has fixed shapes");
  return value.value;
}

const Operand &Lowering::any_input(size_t i) const {
  if (!has(i)) fail("input ", i, " is missing");
  return inputs_[i];
}

const Operand &Lowering::optional(size_t i) const {
  static const Operand absent;
  return has(i) ? input(i) : absent;
}

int Lowering::axis(int64_t given, int rank) const { return axis_within(given, rank); }

std::string Lowering::fresh() const {
  for (const std::string &o : node_.outputs)
    if (!o.empty()) return graph_.fresh_name(o);
  return graph_.fresh_name(node_.operation);
}

void expect_room(Type type, const Shape &shape) {
  const auto bytes = static_cast<uint64_t>(elements(shape)) * static_cast<uint64_t>(facts(type).bytes());
  if (bytes <= memory_limit()) return;
  std::ostringstream text;
  text << "a result of " << facts(type).name << " " << to_string(shape) << " needs " << bytes << " bytes; there are "
       << memory_limit();
  throw OutOfMemory(text.str());
}

std::vector<Operand> Lowering::add(Graph::Node node, Type type, const Shape &shape, size_t results) {
  expect_room(type, shape);
  if (graph_.nodes.size() >= most_nodes_) unsupported("it is taken apart into more than ", most_nodes_, " nodes");
  std::vector<Operand> made;
  node.label = node_.label;
  while (made.size() < results) {
    const std::string name = fresh();
    graph_.values[name] = {shape, type, {}};
    node.outputs.push_back(name);
    made.push_back({name, type, shape, {}});
  }
  graph_.nodes.push_back(std::move(node));
  return made;
}

std::vector<Operand> Lowering::computed(const Values &values) {
  Values inputs;
  std::vector<Operand> operands, results;
  for (const auto &s : stages_of(values)) {
    if (!s->is_input()) continue;
    inputs.emplace_back(s);
    operands.push_back({s->name, s->type, {}, {}});
    for (const Expression &e : s->extents) operands.back().shape.push_back(e->integer);
  }
  const formula::ExactFormulas all = exact_formulas(inputs, values, {}, formula::Cut::where_needed);
  for (const formula::ExactFormula &f : all.stages) {
    std::vector<std::string> from;
    for (int o : f.operands) from.push_back(operands.at(static_cast<size_t>(o)).name);
    Graph::Node node = node_of(f, std::move(from), "");
    node.outputs.clear();
    operands.push_back(add(std::move(node), f.type, f.shape)[0]);
  }
  for (int o : all.outputs) results.push_back(operands.at(static_cast<size_t>(o)));
  return results;
}

Operand Lowering::operation(const std::string &name, const std::vector<Operand> &inputs, const Attributes &attributes,
                            const Shape &shape, Type type) {
  return operation(name, inputs, attributes, shape, type, 1)[0];
}

std::vector<Operand> Lowering::operation(const std::string &name, const std::vector<Operand> &inputs,
                                         const Attributes &attributes, const Shape &shape, Type type, size_t results) {
  Graph::Node node;
  node.operation = name;
  node.attributes = attributes;
  for (const Operand &o : inputs) node.inputs.push_back(o.name);
  return add(std::move(node), type, shape, results);
}

Operand Lowering::constant(const Tensor &value) {
  const std::string name = fresh();
  graph_.add_constant(name, value);
  return {name, value.type(), value.shape(), value};
}

Operand Lowering::reshaped(const Operand &x, const Shape &shape) {
  if (elements(shape) != elements(x.shape)) fail("cannot reshape ", to_string(x.shape), " to ", to_string(shape));
  if (shape == x.shape) return x;
  Operand y = operation("reshape", {x}, {{"shape", shape}}, shape, x.type);
  if (x.value.defined() && x.value.has_layout(Layout::row_major)) y.value = x.value.reshaped(shape);
  return y;
}

Operand Lowering::transposed(const Operand &x, const std::vector<int> &order) {
  Shape shape;
  bool same = true;
  for (size_t d = 0; d < order.size(); ++d) {
    shape.push_back(x.shape.at(static_cast<size_t>(order[d])));
    same &= order[d] == static_cast<int>(d);
  }
  if (same) return x;
  Operand y = operation("transpose", {x}, {{"order", std::vector<int64_t>(order.begin(), order.end())}}, shape, x.type);
  if (x.rank() == 2) y.turned_from = x.name;
  return y;
}

Operand Lowering::casted(const Operand &x, Type type) { return x.type == type ? x : computed(cast(type, Value(x))); }

Operand Lowering::broadcasted(const Operand &x, const Shape &shape) {
  return x.shape == shape ? x : computed(algorithms::broadcasted(x, extents(shape)));
}

std::vector<Operand> Lowering::by_operator(const std::string &name, const std::vector<Operand> &inputs,
                                           const Attributes &attributes, size_t outputs) {
  constexpr int64_t opset = 21;
  Graph::Node node;
  node.operation = name;
  node.attributes = attributes;
  node.label = node_.label;
  for (size_t i = 0; i < outputs; ++i) node.outputs.push_back(fresh());
  const Operator *op = find_operator("", name);
  if (!op || !op->lower) fail("there is no lowering of ", name);
  Lowering inner(node, opset, inputs, graph_, most_nodes_);
  op->lower(inner);
  return inner.given();
}

void Lowering::give(size_t output, const Operand &value) {
  if (wants(output)) given_.at(output) = value;
}

void Lowering::give(Values values) {
  while (!values.empty() && !wants(values.size() - 1)) values.pop_back();
  if (values.empty()) return;
  const std::vector<Operand> made = computed(values);
  for (size_t i = 0; i < made.size(); ++i) give(i, made[i]);
}

}  // namespace saltern
