#pragma once
// Elements of a tensor, elsewhere.

#include "dsl/value.h"

namespace saltern::algorithms {

using namespace formula;

// table(v, e), places(n) -> (n, e)
inline Value embedding(const Value &table, const Value &places) {
  return compute("embedding", {places.extent(0), table.extent(1)},
                 [&](Expression n, Expression e) { return table(places(n), e); });
}

// x(n, c r r, h, w) -> (n, c, h r, w r)
inline Value pixel_shuffle(const Value &x, int r) {
  return compute("pixel_shuffle", {x.extent(0), quotient(x.extent(1), r * r), x.extent(2) * r, x.extent(3) * r},
                 [&](Expression n, Expression c, Expression h, Expression w) {
                   return x(n, c * (r * r) + modulo(h, r) * r + modulo(w, r), quotient(h, r), quotient(w, r));
                 });
}

// x(n, c, h, w) -> (n, c, h r, w r), pixels of x at the centres of squares of r.
inline Value resize_nearest(const Value &x, int r) {
  return compute(
      "resize_nearest", {x.extent(0), x.extent(1), x.extent(2) * r, x.extent(3) * r},
      [&](Expression n, Expression c, Expression h, Expression w) { return x(n, c, quotient(h, r), quotient(w, r)); });
}

// The value of x(n, c, h, w) at a place between pixels; zeros lie around.
inline Expression between_pixels(const Value &x, const Expression &n, const Expression &c, const Expression &h,
                                 const Expression &w) {
  const Expression top = floor(h), left = floor(w), down = h - top, right = w - left;
  const Expression i = cast(Type::i64, top), j = cast(Type::i64, left);
  return (1 - down) * ((1 - right) * x.or_zero(n, c, i, j) + right * x.or_zero(n, c, i, j + 1)) +
         down * ((1 - right) * x.or_zero(n, c, i + 1, j) + right * x.or_zero(n, c, i + 1, j + 1));
}

// To height x width, as align_corners=False does, the edge repeated.
inline Value resize_bilinear(const Value &x, const Expression &height, const Expression &width) {
  const Type type = x.type();
  const auto place = [&](const Expression &i, const Expression &from, const Expression &to) {
    const Expression at = (cast(type, i) + 0.5) * (cast(type, from) / cast(type, to)) - 0.5;
    return min(max(at, 0.0), cast(type, from - 1));
  };
  return compute("resize_bilinear", {x.extent(0), x.extent(1), height, width},
                 [&](Expression n, Expression c, Expression h, Expression w) {
                   return between_pixels(x, n, c, place(h, x.extent(2), height), place(w, x.extent(3), width));
                 });
}

// x(n, c, h, w) at grid(n, p, q, 2), whose last axis is (x, y) in [-1, 1]; align_corners=False.
inline Value grid_sample(const Value &x, const Value &grid) {
  const auto place = [&](const Expression &g, const Expression &extent) {
    return ((g + 1.0) * cast(x.type(), extent) - 1.0) * 0.5;
  };
  return compute("grid_sample", {x.extent(0), x.extent(1), grid.extent(1), grid.extent(2)},
                 [&](Expression n, Expression c, Expression p, Expression q) {
                   return between_pixels(x, n, c, place(grid(n, p, q, 1), x.extent(2)),
                                         place(grid(n, p, q, 0), x.extent(3)));
                 });
}

// y(i, j) = sum of x(i, k) over k up to j.
inline Value cumulative_sum(const Value &x) {
  return compute("cumulative_sum", {x.extent(0), x.extent(1)}, [&](Expression i, Expression j) {
    return sum({x.extent(1)}, [&](Expression k) { return select(k <= j, x(i, k), constant(x.type(), 0)); });
  });
}

}  // namespace saltern::algorithms
