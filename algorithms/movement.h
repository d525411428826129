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

// x(n, c r r, h, w) -> (n, c, h r, w r): the pixels of a square from neighbouring channels, or a square from channels
// that lie c apart.
inline Value pixel_shuffle(const Value &x, int64_t r, bool apart = false) {
  const Expression channels = quotient(x.extent(1), r * r);
  return compute("pixel_shuffle", {x.extent(0), channels, x.extent(2) * r, x.extent(3) * r},
                 [&](Expression n, Expression c, Expression h, Expression w) {
                   const Expression pixel = modulo(h, r) * r + modulo(w, r);
                   return x(n, apart ? pixel * channels + c : c * (r * r) + pixel, quotient(h, r), quotient(w, r));
                 });
}

// The way back.
inline Value pixel_unshuffle(const Value &x, int64_t r, bool apart = true) {
  const Expression &channels = x.extent(1);
  return compute("pixel_unshuffle",
                 {x.extent(0), channels * (r * r), quotient(x.extent(2), r), quotient(x.extent(3), r)},
                 [&](Expression n, Expression c, Expression h, Expression w) {
                   const Expression pixel = apart ? quotient(c, channels) : modulo(c, r * r);
                   return x(n, apart ? modulo(c, channels) : quotient(c, r * r), h * r + quotient(pixel, r),
                            w * r + modulo(pixel, r));
                 });
}

// Channels that were in g groups, one of each group in turn.
inline Value channel_shuffle(const Value &x, int64_t g) {
  return compute("channel_shuffle", x.extents(), [&](Axes at) {
    at[1] = modulo(at[1], g) * quotient(x.extent(1), g) + quotient(at[1], g);
    return x.at(at);
  });
}

// Repeated along axes of extent 1, and new ones in front.
inline Value broadcasted(const Value &x, const std::vector<Expression> &extents) {
  return inlined(extents, [&](const Axes &at) { return x.at(Axes(at.end() - x.rank(), at.end())); });
}

// Every step-th element from `begin` on, of these extents; and all of x again and again.
inline Value strided(const Value &x, const std::vector<int64_t> &begin, const std::vector<int64_t> &step,
                     const std::vector<Expression> &extents) {
  return inlined(extents, [&](Axes at) {
    for (size_t d = 0; d < at.size(); ++d) at[d] = at[d] * step[d] + begin[d];
    return x.at(at);
  });
}
inline Value tiled(const Value &x, const std::vector<Expression> &extents) {
  return inlined(extents, [&](Axes at) {
    for (size_t d = 0; d < at.size(); ++d) at[d] = modulo(at[d], x.extent(static_cast<int>(d)));
    return x.at(at);
  });
}

// x(n, c, h, w) -> (n, c, h r, w r), pixels of x at the centres of squares of r.
inline Value resize_nearest(const Value &x, int r) {
  return compute(
      "resize_nearest", {x.extent(0), x.extent(1), x.extent(2) * r, x.extent(3) * r},
      [&](Expression n, Expression c, Expression h, Expression w) { return x(n, c, quotient(h, r), quotient(w, r)); });
}

}  // namespace saltern::algorithms
