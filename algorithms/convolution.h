#pragma once
// Convolution of x(n, c, ...) with w(o, c, ...), along one, two or three axes; zeros lie around x.
//
//   y(n, o, p, q) = sum_{c, ky, kx} w(o, c, ky, kx) x(n, c, p stride + ky dilation - pad, q ...)
//
// Groups stand as an axis of their own: x(n, g, c, ...), w(g, o, c, ...), y(n, g, o, ...).
// A transposed convolution is the gradient of one with respect to x.

#include "algorithms/sliding.h"
#include "dsl/derivative.h"

namespace saltern::algorithms {

using namespace formula;

inline Value conv1d(const Value &x, const Value &w, const Slide &s) {
  return compute("conv1d", {x.extent(0), w.extent(0), positions(x.extent(2), w.extent(2), s)},
                 [&](Expression n, Expression o, Expression p) {
                   return sum({w.extent(1), w.extent(2)}, [&](Expression c, Expression k) {
                     return w(o, c, k) * x.or_zero(n, c, source(p, k, s));
                   });
                 });
}

inline Value conv2d(const Value &x, const Value &w, const Slide2d &s) {
  return compute(
      "conv2d",
      {x.extent(0), w.extent(0), positions(x.extent(2), w.extent(2), s.y), positions(x.extent(3), w.extent(3), s.x)},
      [&](Expression n, Expression o, Expression p, Expression q) {
        return sum({w.extent(1), w.extent(2), w.extent(3)}, [&](Expression c, Expression ky, Expression kx) {
          return w(o, c, ky, kx) * x.or_zero(n, c, source(p, ky, s.y), source(q, kx, s.x));
        });
      });
}

inline Value grouped_conv2d(const Value &x, const Value &w, const Slide2d &s) {
  return compute("grouped_conv2d",
                 {x.extent(0), w.extent(0), w.extent(1), positions(x.extent(3), w.extent(3), s.y),
                  positions(x.extent(4), w.extent(4), s.x)},
                 [&](Expression n, Expression g, Expression o, Expression p, Expression q) {
                   return sum({w.extent(2), w.extent(3), w.extent(4)}, [&](Expression c, Expression ky, Expression kx) {
                     return w(g, o, c, ky, kx) * x.or_zero(n, g, c, source(p, ky, s.y), source(q, kx, s.x));
                   });
                 });
}

inline Value conv3d(const Value &x, const Value &w, const Slide &s) {
  return compute("conv3d",
                 {x.extent(0), w.extent(0), positions(x.extent(2), w.extent(2), s),
                  positions(x.extent(3), w.extent(3), s), positions(x.extent(4), w.extent(4), s)},
                 [&](Expression n, Expression o, Expression d, Expression p, Expression q) {
                   return sum({w.extent(1), w.extent(2), w.extent(3), w.extent(4)}, [&](Expression c, Expression kz,
                                                                                        Expression ky, Expression kx) {
                     return w(o, c, kz, ky, kx) * x.or_zero(n, c, source(d, kz, s), source(p, ky, s), source(q, kx, s));
                   });
                 });
}

// y(n, c, h, w) of x(n, o, p, q), where conv2d goes from (h, w) to (p, q).
inline Value transposed_conv2d(const Value &x, const Value &w, const Slide2d &s, const Expression &height,
                               const Expression &width) {
  const Value image = formula::input("image", {x.extent(0), w.extent(1), height, width}, x.type());
  return gradient({conv2d(image, w, s)}, {x}, {image})[0];
}

}  // namespace saltern::algorithms
