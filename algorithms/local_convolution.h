#pragma once
// Convolutions of images x(n, c, ...) with weights of their own at every position:
//
//   y(n, o, p...) = sum over c and k... of w(o, c, p..., k...) x(n, c, p... + k...)

#include "algorithms/sliding.h"

namespace saltern::algorithms {

inline Value locally_connected(const Value &x, const Value &w, const Slides &s) {
  const int axes = x.rank() - 2;
  const std::vector<Expression> of_w = w.extents(), window(of_w.end() - axes, of_w.end());
  std::vector<Expression> taps = window;
  taps.insert(taps.begin(), x.extent(1));
  return compute("locally_connected", windows(x, w.extent(0), window, s), [&](const Axes &at) {
    return sum(taps, [&](const Axes &k) {
      const Axes tap(k.begin() + 1, k.end());
      Axes weight = {at[1], k[0]};
      weight.insert(weight.end(), at.begin() + 2, at.end());
      weight.insert(weight.end(), tap.begin(), tap.end());
      return w.at(weight) * x.or_else(0, tap_of(at, k[0], tap, s));
    });
  });
}

}  // namespace saltern::algorithms
