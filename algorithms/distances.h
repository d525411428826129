#pragma once
// Norms along axes, and distances of rows.
//
//   norm(v, p)(..., 1) = (sum |v|^p)^(1/p), for p = infinity the greatest |v|, for p = 0 how many are not 0
//   cosine(a, b)       = a b / (max(|a|, epsilon) max(|b|, epsilon))
//
// The gradient of a norm at 0 is 0.

#include <cmath>

#include "dsl/value.h"

namespace saltern::algorithms {

using namespace formula;

inline Value root(const Value &s, double p) {
  const Value inside = where(s > 0, s, 1);
  return where(s > 0, p == 2 ? sqrt(inside) : power(inside, 1 / p), where(s == 0, 0, s));
}

inline Value norm(const Value &v, const std::vector<int> &axes, double p) {
  const Value size = abs(v);
  if (p == 0) return sum(where(v == 0, constant_value(v.type(), 0), constant_value(v.type(), 1)), axes);
  if (p == 1) return sum(size, axes);
  if (p == 2) return root(named("squares", sum(v * v, axes)), 2);
  if (std::isinf(p)) return p > 0 ? greatest(size, axes) : least(size, axes);
  const Value inside = where(size > 0, size, 1);
  return root(named("powers", sum(where(size > 0, power(inside, p), 0), axes)), p);
}

inline Value cosine(const Value &a, const Value &b, int axis, double epsilon) {
  const auto unit = [&](const Value &v) { return v / named("length", max(norm(v, {axis}, 2), epsilon)); };
  return sum(unit(a) * unit(b), {axis});
}

// Without an axis of extent 1.
inline Value without_axis(const Value &v, int axis) {
  const auto d = static_cast<std::ptrdiff_t>(axis < 0 ? axis + v.rank() : axis);
  std::vector<Expression> extents = v.extents();
  extents.erase(extents.begin() + d);
  return inlined(extents, [&](Axes at) {
    at.insert(at.begin() + d, Expression(0));
    return v.at(at);
  });
}

// Of a and b, rows along the last axis; epsilon is added to each difference.
inline Value row_distance(const Value &a, const Value &b, double p, double epsilon) {
  return without_axis(norm(a - b + epsilon, {-1}, p), -1);
}

}  // namespace saltern::algorithms
