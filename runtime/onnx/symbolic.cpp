#include "runtime/onnx/symbolic.h"

#include <algorithm>

#include "runtime/onnx/operators/axis.h"
#include "runtime/onnx/operators/wide_numbers.h"

namespace saltern {

namespace {

constexpr int64_t most_known_elements = 1024;  // that are known one by one

}  // namespace

bool Symbolic::is_open() const {
  return std::any_of(extents.begin(), extents.end(), [](const Quantity &e) { return !e.is_constant(); });
}

Shape Symbolic::shape() const {
  Shape all;
  for (const Quantity &e : extents) all.push_back(e.constant());
  return all;
}

Symbolic symbolic(Type type, Quantities extents, bool sure, Tensor value) {
  Symbolic v;
  v.present = v.known = true;
  v.type = type;
  v.extents = std::move(extents);
  v.sure = sure;
  v.value = std::move(value);
  return v;
}

Symbolic symbolic(const Tensor &constant) {
  return symbolic(constant.type(), {constant.shape().begin(), constant.shape().end()}, true, constant);
}

Symbolic unknown() {
  Symbolic v;
  v.present = true;
  return v;
}

const Symbolic &SymbolicCall::input(size_t i) const {
  if (!has(i)) fail("input ", i, " is missing");
  return inputs[i];
}

size_t SymbolicCall::axis(const char *attribute, int64_t otherwise, size_t rank) const {
  return static_cast<size_t>(axis_within(attributes().integer(attribute, otherwise), static_cast<int>(rank)));
}

std::optional<Quantities> SymbolicCall::listed(const char *attribute, size_t input) const {
  if (attributes().has(attribute)) {
    const std::vector<int64_t> &all = attributes().integers(attribute);
    return Quantities(all.begin(), all.end());
  }
  return has(input) ? std::optional(elements_of(inputs[input])) : std::nullopt;
}

std::optional<std::vector<int64_t>> SymbolicCall::fixed_list(const char *attribute, size_t input) const {
  const std::optional<Quantities> all = listed(attribute, input);
  if (!all) return std::nullopt;
  std::vector<int64_t> fixed;
  for (const Quantity &q : *all) {
    if (!q.is_constant()) fail(attribute, " depends on sizes");
    fixed.push_back(q.constant());
  }
  return fixed;
}

Symbolic SymbolicCall::result(Type type, Quantities extents, bool sure) {
  for (Quantity &e : extents) {
    if (e.is_at_most(-1)) fail("an extent below 0");
    if (!e.is_known()) e = Quantity::unknown(++unknowns_);
  }
  return symbolic(type, std::move(extents), sure);
}

SymbolicCall::Lowered SymbolicCall::lowered(const std::vector<Shape> &shapes, bool with_values) const {
  if (!op.lower) fail("it has no formula");
  Lowered made;
  std::vector<Operand> operands(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].present) continue;
    if (inputs[i].type == Type::text) fail("it takes texts");
    operands[i] = {"input" + std::to_string(i), inputs[i].type, shapes[i], with_values ? inputs[i].value : Tensor()};
    made.graph.values[operands[i].name] = {shapes[i], inputs[i].type, {}};
  }
  Lowering lowering(node, opset, operands, made.graph);
  op.lower(lowering);
  for (const Operand &o : lowering.given()) o.tensor();  // of sequences nothing is told
  made.results = lowering.given();
  return made;
}

bool has_quantities(Type type) { return type == Type::i64 || type == Type::i32 || type == Type::boolean; }

bool holds(Type type, const Quantity &q) {
  if (!has_quantities(type) || !q.is_known()) return false;
  if (type == Type::boolean) return q.is(0) || q.is(1);
  return type == Type::i64 ||
         (q.is_at_least(std::numeric_limits<int32_t>::min()) && q.is_at_most(std::numeric_limits<int32_t>::max()));
}

Quantities elements_of(const Symbolic &v) {
  if (!v.elements.empty()) return v.elements;
  if (v.is_open() || elements(v.shape()) > most_known_elements) fail("elements that are not known");
  if (!v.value.defined() || !has_quantities(v.type)) return Quantities(static_cast<size_t>(elements(v.shape())));
  const std::vector<int64_t> all = v.value.integers();
  return {all.begin(), all.end()};
}

void set_elements(Symbolic &v, Quantities all) {
  bool none_known = true;
  std::vector<int64_t> numbers;
  for (Quantity &q : all) {
    if (!holds(v.type, q)) q = Quantity();
    if (q.is_constant()) numbers.push_back(q.constant());
    none_known &= !q.is_known();
  }
  if (numbers.size() == all.size())
    v.value = converted(Tensor::of<int64_t>(v.shape(), numbers), v.type);
  else if (!none_known)
    v.elements = std::move(all);
}

}  // namespace saltern
