#include "runtime/onnx/operators/building_blocks.h"

#include <algorithm>

#include "runtime/onnx/operators/contraction.h"

namespace saltern {

namespace {

using formula::constant_integer;

Axes with(Axes at, int axis, const Expression &index) {
  at[static_cast<size_t>(axis)] = index;
  return at;
}

}  // namespace

Operand dense(Lowering &n, const Operand &x, const Operand &w, const Operand &b) {
  const Shape shape = {x.shape.at(0), w.shape.at(0)};
  if (x.type == Type::f32 && elements(shape) > 0 && elements(x.shape) > 0)
    return n.operation("dense", b.present() ? std::vector{x, w, b} : std::vector{x, w}, {}, shape);
  const Operand y = matrix_product(n, x, n.transposed(w, {1, 0}));
  if (!b.present()) return y;
  return n.formula(y.type, shape, {y, b}, [](const Reads &r, const Axes &) { return r[0].here() + r[1].here(); });
}

Operand concatenated(Lowering &n, const std::vector<Operand> &parts, int axis) {
  if (parts.size() == 1) return parts[0];
  const auto d = static_cast<size_t>(axis);
  Shape shape = parts.at(0).shape;
  shape[d] = 0;
  for (const Operand &p : parts) shape[d] += p.shape[d];
  return n.operation("concat", parts, {{"axis", int64_t{axis}}}, shape, parts[0].type);
}

Operand sliced(Lowering &n, const Operand &x, int axis, int64_t begin, int64_t count) {
  const auto d = static_cast<size_t>(axis);
  if (begin == 0 && count == x.shape[d]) return x;
  Shape shape = x.shape;
  shape[d] = count;
  return n.formula(x.type, shape, {x},
                   [&](const Reads &r, const Axes &at) { return r[0](with(at, axis, at[d] + begin)); });
}

Operand filled(Lowering &n, Type type, const Shape &shape, double value) {
  return n.formula(type, shape, {}, [&](const Reads &, const Axes &) { return formula::constant(type, value); });
}

Expression row_major_index(const Axes &at, const Shape &shape) {
  Expression index = constant_integer(Type::i64, 0);
  for (size_t d = 0; d < at.size(); ++d) index = index * shape[d] + at[d];
  return index;
}

}  // namespace saltern
