#pragma once
// What the taps of a convolution read when each is moved by an offset of its own, and counts by a mask:
//
//   y(n, c, k, p...) = mask(n, m, p...) x(n, c) at the place of tap k + offset(n, m r + d, p...) along each axis d of r,
//
// m = g K + k, g being the group of channel c, K the number of taps, which count with the last axis fastest. Places
// between elements are read linearly, zeros outside. The convolution is a matrix product of weights and these.

#include "algorithms/sampling.h"
#include "algorithms/sliding.h"

namespace saltern::algorithms {

// `mask` may be undefined; `groups` are those of offsets.
inline Value deformed_columns(const Value &x, const Value &offset, const Value &mask,
                              const std::vector<int64_t> &kernel, const Slides &s, int64_t groups) {
  int64_t taps = 1;
  for (int64_t k : kernel) taps *= k;
  const auto rank = static_cast<int64_t>(kernel.size());
  std::vector<Expression> extents = windows(x, x.extent(1), {kernel.begin(), kernel.end()}, s);
  extents.insert(extents.begin() + 2, Expression(taps));
  return compute("columns", extents, [&](const Axes &at) {
    const Expression number = quotient(at[1], max(quotient(x.extent(1), groups), 1)) * taps + at[2];
    const auto position = [&](const Expression &channel) {
      Axes indices = {at[0], channel};
      indices.insert(indices.end(), at.begin() + 3, at.end());
      return indices;
    };
    Axes place(kernel.size());
    Expression tap = at[2];
    for (size_t d = kernel.size(); d-- > 0;) {
      const Expression still = source(at[d + 3], modulo(tap, kernel[d]), s[d]);
      tap = quotient(tap, kernel[d]);
      place[d] = cast(offset.type(), still) + offset.at(position(number * rank + static_cast<int64_t>(d)));
    }
    const Expression value = interpolated({}, x, at[0], at[1], place);
    return mask.defined() ? value * mask.at(position(number)) : value;
  });
}

}  // namespace saltern::algorithms
