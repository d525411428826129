#pragma once
// Convolution of x(n, c, ...) with w(o, c, ...), along any number of axes; zeros lie around x.
//
//   y(n, o, p, q) = sum_{c, ky, kx} w(o, c, ky, kx) x(n, c, p stride + ky dilation - pad, q ...)
//
// In groups, x has the channels of all of them and w those of one. Groups may stand as an axis of their own, too:
// x(n, g, c, ...), w(g, o, c, ...), y(n, g, o, ...). A transposed convolution is the gradient of one with respect to x.

#include "algorithms/sliding.h"
#include "dsl/derivative.h"

namespace saltern::algorithms {

using namespace formula;

inline Value convolution(const Value &x, const Value &w, const Slides &s, const Expression &groups = 1) {
  const std::vector<Expression> all = w.extents(), kernel(all.begin() + 2, all.end()),
                                steps(all.begin() + 1, all.end());
  return compute("convolution", windows(x, all[0], kernel, s), [&](const Axes &at) {
    const Expression first = is_number(groups, 1) ? 0 : quotient(at[1], quotient(all[0], groups)) * all[1];
    return sum(steps, [&](const Axes &k) {
      Axes weight = k;
      weight.insert(weight.begin(), at[1]);
      return w.at(weight) * x.or_else(0, tap_of(at, first + k[0], Axes(k.begin() + 1, k.end()), s));
    });
  });
}

inline Value grouped_conv2d(const Value &x, const Value &w, const Slides &s) {
  return compute("grouped_conv2d",
                 {x.extent(0), w.extent(0), w.extent(1), positions(x.extent(3), w.extent(3), s[0]),
                  positions(x.extent(4), w.extent(4), s[1])},
                 [&](Expression n, Expression g, Expression o, Expression p, Expression q) {
                   return sum({w.extent(2), w.extent(3), w.extent(4)}, [&](Expression c, Expression ky, Expression kx) {
                     return w(g, o, c, ky, kx) * x.or_zero(n, g, c, source(p, ky, s[0]), source(q, kx, s[1]));
                   });
                 });
}

// y(n, c, ...) of x(n, o, ...), where a convolution goes from y, of these extents, to x.
inline Value transposed_convolution(const Value &x, const Value &w, const Slides &s,
                                    const std::vector<Expression> &extents, const Expression &groups = 1) {
  return adjoint(extents, x, [&](const Value &image) { return convolution(image, w, s, groups); });
}

}  // namespace saltern::algorithms
