#include "runtime/onnx/operators/building_blocks.h"

#include <algorithm>

#include "runtime/onnx/operators/arguments.h"

namespace saltern {

Operand dense(Lowering &n, const Operand &x, const Operand &w, const Operand &b) {
  const Shape shape = {x.shape.at(0), w.shape.at(0)};
  if (x.type == Type::f32 && elements(shape) > 0 && elements(x.shape) > 0)
    return n.operation("dense", b.present() ? std::vector{x, w, b} : std::vector{x, w}, {}, shape);
  const Operand y = matrix_product(n, x, n.transposed(w, {1, 0}));
  return b.present() ? n.computed(Value(y) + Value(b)) : y;
}

Operand concatenated(Lowering &n, const std::vector<Operand> &parts, int axis) {
  if (parts.empty()) fail("there is nothing to join");
  if (parts.size() == 1) return parts[0].tensor();
  const auto d = static_cast<size_t>(axis);
  Shape shape = parts[0].tensor().shape;
  shape[d] = 0;
  for (const Operand &p : parts) {
    expect_same_type(parts[0], p.tensor());
    Shape like = p.shape;
    if (p.rank() == parts[0].rank()) like[d] = parts[0].shape[d];
    if (like != parts[0].shape)
      fail("joins ", to_string(parts[0].shape), " and ", to_string(p.shape), " along dimension ", axis);
    shape[d] += p.shape[d];
  }
  return n.operation("concat", parts, {{"axis", int64_t{axis}}}, shape, parts[0].type);
}

Operand stacked(Lowering &n, const std::vector<Operand> &parts, int64_t axis) {
  if (parts.empty()) fail("there is nothing to join");
  const int at = n.axis(axis, parts[0].tensor().rank() + 1);
  std::vector<Operand> thick;
  for (const Operand &p : parts) {
    Shape shape = p.tensor().shape;
    if (p.rank() != parts[0].rank()) fail("stacks ", to_string(parts[0].shape), " and ", to_string(p.shape));
    shape.insert(shape.begin() + at, 1);
    thick.push_back(n.reshaped(p, shape));
  }
  return concatenated(n, thick, at);
}

Operand sliced(Lowering &n, const Operand &x, int axis, int64_t begin, int64_t count) {
  const auto d = static_cast<size_t>(axis);
  if (begin == 0 && count == x.shape[d]) return x;
  Shape shape = x.shape;
  shape[d] = count;
  return n.computed(formula::inlined(extents(shape), [&](Axes at) {
    at[d] = at[d] + begin;
    return Value(x).at(at);
  }));
}

Operand taken(Lowering &n, const Operand &x, int axis, int64_t i) {
  Shape shape = x.tensor().shape;
  shape.erase(shape.begin() + axis);
  return n.computed(formula::inlined(extents(shape), [&](Axes at) {
    at.insert(at.begin() + axis, Expression(i));
    return Value(x).at(at);
  }));
}

Operand filled(Lowering &n, Type type, const Shape &shape, double value) {
  return n.computed(formula::inlined(extents(shape), [&](const Axes &) { return formula::constant(type, value); }));
}

Expression row_major_index(const Axes &at, const Shape &shape) {
  Expression index = 0;
  for (size_t d = 0; d < at.size(); ++d) index = index * shape[d] + at[d];
  return index;
}

}  // namespace saltern
