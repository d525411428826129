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
                   return sum({w.extent(3), w.extent(4), w.extent(2)}, [&](Expression ky, Expression kx, Expression c) {
                     return w(g, o, c, ky, kx) * x.or_zero(n, g, c, source(p, ky, s[0]), source(q, kx, s[1]));
                   });
                 });
}

inline Value grouped_conv2d_gradient_w(const Value &x, const Value &dy, const Slides &s,
                                       const std::vector<Expression> &taps) {
  Slide y = s[0], along = s[1];
  y.count = dy.extent(3);
  along.count = dy.extent(4);
  return adjoint({dy.extent(1), dy.extent(2), x.extent(2), taps[0], taps[1]}, dy, [&](const Value &w) {
    return grouped_conv2d(x, w, {y, along});
  });
}

// y(n, c, ...) of x(n, o, ...), where a convolution goes from y, of these extents, to x.
inline Value transposed_convolution(const Value &x, const Value &w, const Slides &s,
                                    const std::vector<Expression> &extents, const Expression &groups = 1) {
  return adjoint(extents, x, [&](const Value &image) { return convolution(image, w, s, groups); });
}

// Of each channel by itself: x(n, c, ...), w(..., c).
inline Value depthwise(const Value &x, const Value &w, const Slides &s) {
  const int last = w.rank() - 1;
  std::vector<Expression> taps = w.extents();
  taps.pop_back();
  taps.insert(taps.begin(), {w.extent(last), 1});
  const Value alone = inlined(taps, [&](const Axes &at) {
    Axes tap(at.begin() + 2, at.end());
    tap.push_back(at[0]);
    return w.at(tap);
  });
  return convolution(x, alone, s, x.extent(1));
}

// dy(n, c, ...) with so many zeros behind each of its elements that a step of it is a step of what windows slide over.
inline Value spread(const Value &dy, const Slides &s) {
  std::vector<Expression> extents = dy.extents();
  for (size_t d = 2; d < extents.size(); ++d) extents[d] = extents[d] * s[d - 2].stride;
  return compute("spread", extents, [&](const Axes &at) {
    Axes from = at;
    Expression is_there = truth(true);
    for (size_t d = 2; d < at.size(); ++d) {
      from[d] = quotient(at[d], s[d - 2].stride);
      is_there = is_there && modulo(at[d], s[d - 2].stride) == 0;
    }
    return select(is_there, dy.at(from), constant(dy.type(), 0));
  });
}

// Of an image of these extents. Each step of a derived one divides by the strides, where these are known at run time only.
inline Value depthwise_gradient_x(const Value &w, const Value &dy, const Slides &s,
                                  const std::vector<Expression> &image) {
  const Value between = spread(dy, s);
  std::vector<Expression> taps = w.extents();
  taps.pop_back();
  return compute("d_image", image, [&](const Axes &at) {
    return sum(taps, [&](const Axes &k) {
      Axes tap = k, from = at;
      tap.push_back(at[1]);
      for (size_t d = 2; d < at.size(); ++d) from[d] = at[d] + s[d - 2].pad - k[d - 2] * s[d - 2].dilation;
      return w.at(tap) * between.or_else(0, from);
    });
  });
}

inline Value depthwise_gradient_w(const Value &x, const Value &dy, const Slides &s,
                                  const std::vector<Expression> &taps) {
  std::vector<Expression> extents = taps;
  extents.push_back(x.extent(1));
  return adjoint(extents, dy, [&](const Value &w) { return depthwise(x, w, that_stand_at(s, dy)); });
}

}  // namespace saltern::algorithms
