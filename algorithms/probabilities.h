#pragma once
// Softmax over one axis, its logarithm, and the loss made of it.
//
//   softmax      exp(x - m) / sum exp(x - m),   m = max x        dx = y (dy - sum y dy)
//   log_softmax  x - m - log sum exp(x - m)                      dx = dy - exp(y) sum dy
//   cross_entropy(x(n, c), labels(n))(n) = -log_softmax(x)(n, labels(n)), and 0 where a label names no class
//
// The maximum keeps the powers finite; it changes neither the result nor the gradient, so none is taken of it. An x of
// -infinity has probability 0; a row of nothing else has none, and gives NaN, as one with NaN or infinity does.
//
// The gradients of the first two are from y: derived from x they took three times as long, for the powers are made again.

#include "dsl/derivative.h"

namespace saltern::algorithms {

using namespace formula;

// What all three share: the maximum, exp(x - maximum), and the sum of that.
struct Powers {
  Value largest, power, total;
};

inline Powers powers(const Value &x, int axis) {
  const Value largest = stop_gradient(named("largest", greatest(x, {axis})));
  const Value power = named("power", exp(x - largest));
  return {largest, power, named("total", sum(power, {axis}))};
}

// One division a row.
inline Value share(const Powers &p) { return named("share", 1 / p.total); }

inline Value softmax_gradient(const Value &y, const Value &dy, int axis) {
  return y * (dy - named("inner", sum(y * dy, {axis})));
}

inline Value softmax(const Value &x, int axis) {
  const Powers p = powers(x, axis);
  const Value y = p.power * share(p);
  return with_gradient(y, {{x}, [y, axis](const Value &dy) { return Values{softmax_gradient(y, dy, axis)}; }});
}

inline Value log_softmax_gradient(const Value &y, const Value &dy, int axis) {
  return dy - exp(y) * named("all", sum(dy, {axis}));
}

inline Value log_softmax(const Value &x, int axis) {
  const Powers p = powers(x, axis);
  // In this order: of large numbers the maximum would swallow the logarithm.
  const Value y = x - p.largest - named("logarithm", log(p.total));
  return with_gradient(y, {{x}, [y, axis](const Value &dy) { return Values{log_softmax_gradient(y, dy, axis)}; }});
}

// 1 where the first of the greatest is, 0 elsewhere.
inline Value hardmax(const Value &x, int axis) {
  const Value place = reduced(Function::first_greatest, x, {axis});
  return inlined(x.extents(), [&](const Axes &at) {
    return select(place.at(at) == at[static_cast<size_t>(axis)], constant(x.type(), 1), constant(x.type(), 0));
  });
}

inline Value cross_entropy(const Value &x, const Value &labels) {
  const Powers p = powers(x, 1);
  const Value label = cast(Type::i64, labels), logarithm = named("logarithm", log(p.total));
  return compute("cross_entropy", {x.extent(0)}, [&](Expression n) {
    const Expression l = label(n);
    return select(0 <= l && l < x.extent(1), p.largest(n, 0) + logarithm(n, 0) - x(n, l), constant(x.type(), 0));
  });
}

// dloss (softmax(x) - [c = label]).
inline Value cross_entropy_gradient(const Value &x, const Value &labels, const Value &dloss) {
  const Powers p = powers(x, 1);
  const Value label = cast(Type::i64, labels), part = share(p);
  return compute("cross_entropy_gradient", {x.extent(0), x.extent(1)}, [&](Expression n, Expression c) {
    const Expression l = label(n), zero = constant(x.type(), 0);
    return select(0 <= l && l < x.extent(1), dloss(n), zero) *
           (p.power(n, c) * part(n, 0) - select(c == l, constant(x.type(), 1), zero));
  });
}

}  // namespace saltern::algorithms
