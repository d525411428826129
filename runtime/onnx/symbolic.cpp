#include "runtime/onnx/symbolic.h"

#include <algorithm>

#include "runtime/onnx/operators/axis.h"

namespace saltern {

namespace {

constexpr int64_t most_elements = 1024;  // that are known one by one

}  // namespace

bool Symbolic::is_open() const {
  return std::any_of(extents.begin(), extents.end(), [](const Quantity &e) { return !e.is_constant(); });
}

Shape Symbolic::shape() const {
  Shape all;
  for (const Quantity &e : extents) all.push_back(e.constant());
  return all;
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
    if (!e.is_known()) e = unknown_extent();
  }
  Symbolic r;
  r.present = r.known = true;
  r.type = type;
  r.extents = std::move(extents);
  r.sure = sure;
  return r;
}

std::vector<Operand> SymbolicCall::lowered(const std::vector<Shape> &shapes, bool with_values) const {
  if (!op.lower) fail("it has no formula");
  Graph scratch;
  std::vector<Operand> operands(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].present) continue;
    if (inputs[i].type == Type::text) fail("it takes texts");
    operands[i] = {"input" + std::to_string(i), inputs[i].type, shapes[i], with_values ? inputs[i].value : Tensor()};
    scratch.values[operands[i].name] = {shapes[i], inputs[i].type, {}};
  }
  Lowering lowering(node, opset, operands, scratch);
  op.lower(lowering);
  for (const Operand &o : lowering.given()) o.tensor();  // of sequences nothing is told
  return lowering.given();
}

bool has_quantities(Type type) { return type == Type::i64 || type == Type::i32 || type == Type::boolean; }

Quantities elements_of(const Symbolic &v) {
  if (!v.elements.empty()) return v.elements;
  if (v.is_open() || elements(v.shape()) > most_elements) fail("elements that are not known");
  if (!v.value.defined() || !has_quantities(v.type)) return Quantities(static_cast<size_t>(elements(v.shape())));
  const std::vector<int64_t> all = v.value.integers();
  return {all.begin(), all.end()};
}

}  // namespace saltern
