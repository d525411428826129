#include "runtime/onnx/operators/lowering.h"

#include "runtime/onnx/operators/axis.h"
#include "runtime/tensor/memory.h"
#include "runtime/tensor/strided.h"

namespace saltern {

Axes axes_of(const Shape &shape) {
  Axes at;
  for (size_t d = 0; d < shape.size(); ++d) at.push_back(formula::axis(static_cast<int>(d)));
  return at;
}

Expression Read::here() const {
  bool fits = shape_->size() <= result_->size();
  const size_t missing = fits ? result_->size() - shape_->size() : 0;
  for (size_t d = 0; fits && d < shape_->size(); ++d)
    fits = (*shape_)[d] == 1 || (*shape_)[d] == (*result_)[d + missing];
  if (!fits) fail(to_string(*shape_), " does not broadcast to ", to_string(*result_));
  std::vector<Expression> indices;
  for (size_t d = 0; d < shape_->size(); ++d)
    indices.push_back((*shape_)[d] == 1 ? formula::constant_integer(Type::i64, 0)
                                        : formula::axis(static_cast<int>(d + missing)));
  return (*this)(std::move(indices));
}

Shape broadcasted_shape(const std::vector<Operand> &operands) {
  Shape shape = operands.at(0).shape;
  for (const Operand &o : operands) shape = broadcast_shape(shape, o.shape, "broadcasting");
  return shape;
}

const Operand &Lowering::input(size_t i) const {
  if (!has(i)) fail("input ", i, " is missing");
  return inputs_[i];
}

const Tensor &Lowering::known(size_t i, const char *what) const {
  const Operand &in = input(i);
  if (!in.value.defined())
    unsupported(what, " ('", in.name, "') is known at run time only; a compiled model has fixed shapes");
  return in.value;
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

Operand Lowering::add(Graph::Node node, Type type, const Shape &shape) {
  expect_room(type, shape);
  if (graph_.nodes.size() >= most_nodes_) unsupported("it is taken apart into more than ", most_nodes_, " nodes");
  const std::string name = fresh();
  node.outputs = {name};
  node.label = node_.label;
  graph_.values[name] = {shape, type, {}};
  graph_.nodes.push_back(std::move(node));
  return {name, type, shape, {}};
}

Operand Lowering::formula(Type type, const Shape &shape, const std::vector<Operand> &operands, const Element &element) {
  Reads reads;
  Graph::Node node;
  for (const Operand &o : operands) {
    if (o.type == Type::text) unsupported("computes with texts");
    reads.emplace_back(static_cast<int>(reads.size()), o, shape);
    node.inputs.push_back(o.name);
  }
  const Expression e = element(reads, axes_of(shape));
  if (e.type() != type) fail("its formula gives ", facts(e.type()).name, " where ", facts(type).name, " is wanted");
  node.operation = "formula";
  node.attributes.set("element", e);
  return add(std::move(node), type, shape);
}

Operand Lowering::operation(const std::string &name, const std::vector<Operand> &inputs, const Attributes &attributes,
                            const Shape &shape, Type type) {
  Graph::Node node;
  node.operation = name;
  node.attributes = attributes;
  for (const Operand &o : inputs) node.inputs.push_back(o.name);
  return add(std::move(node), type, shape);
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
  return operation("transpose", {x}, {{"order", std::vector<int64_t>(order.begin(), order.end())}}, shape, x.type);
}

Operand Lowering::casted(const Operand &x, Type type) {
  if (x.type == type) return x;
  return formula(type, x.shape, {x}, [&](const Reads &r, const Axes &) { return cast(type, r[0].here()); });
}

Operand Lowering::broadcasted(const Operand &x, const Shape &shape) {
  if (x.shape == shape) return x;
  return formula(x.type, shape, {x}, [](const Reads &r, const Axes &) { return r[0].here(); });
}

void Lowering::give(size_t output, const Operand &value) {
  if (wants(output)) given_.at(output) = value;
}

}  // namespace saltern
