#include "runtime/operators/building_blocks.h"

#include <algorithm>

#include "runtime/operators/contraction.h"

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
  // Each formula joins a few, so that the choice among them stays short.
  constexpr size_t at_once = 8;
  const auto d = static_cast<size_t>(axis);
  std::vector<Operand> joined;
  for (size_t first = 0; first < parts.size(); first += at_once) {
    const std::vector<Operand> some(
        parts.begin() + static_cast<std::ptrdiff_t>(first),
        parts.begin() + static_cast<std::ptrdiff_t>(std::min(first + at_once, parts.size())));
    Shape shape = some[0].shape;
    shape[d] = 0;
    for (const Operand &p : some) shape[d] += p.shape[d];
    joined.push_back(n.formula(some[0].type, shape, some, [&](const Reads &r, const Axes &at) {
      int64_t begin = shape[d];
      Expression e;
      for (size_t i = some.size(); i-- > 0;) {
        begin -= some[i].shape[d];
        const Expression here = r[i](with(at, axis, at[d] - begin));
        e = e.defined() ? select(at[d] < begin + some[i].shape[d], here, e) : here;
      }
      return e;
    }));
  }
  return concatenated(n, joined, axis);
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
