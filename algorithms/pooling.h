#pragma once
// Pooling of x(n, c, ...) over windows; pixels outside take no part.
//
//   max_pool      the greatest         positions_of_maxima   the number of its tap, the last axis fastest, the first of equals
//   average_pool  the sum, divided by all taps, by those inside of x, or by those inside of x and its padding
//   norm_pool     (sum |x|^p)^(1/p)

#include <cmath>
#include <limits>

#include "algorithms/sliding.h"

namespace saltern::algorithms {

using namespace formula;
using Window = std::vector<Expression>;

// Below every number of the type, or the least of them.
inline double lowest(Type type) {
  if (is_real(type)) return -std::numeric_limits<double>::infinity();
  return facts(type).kind == TypeFacts::Kind::integer ? -std::ldexp(1.0, facts(type).bits - 1) : 0;
}

inline Value pooled(Function f, const Value &x, const Window &window, const Slides &s, double outside) {
  return compute("pool", windows(x, x.extent(1), window, s), [&](const Axes &at) {
    return reduce_open(f, window, [&](const Axes &k) { return x.or_else(outside, tap_of(at, at[1], k, s)); });
  });
}

inline Value max_pool(const Value &x, const Window &window, const Slides &s) {
  return pooled(Function::greatest, x, window, s, lowest(x.type()));
}
inline Value positions_of_maxima(const Value &x, const Window &window, const Slides &s) {
  return pooled(Function::first_greatest, x, window, s, lowest(x.type()));
}

// Of an image of these extents, from the positions of its maxima.
inline Value max_pool_gradient(const Value &positions, const Value &dy, const Window &window, const Slides &s,
                               const std::vector<Expression> &image) {
  std::vector<Expression> extents = dy.extents();
  extents.insert(extents.begin() + 2, window.begin(), window.end());
  const Value taps = inlined(extents, [&](Axes at) {
    Expression tap = 0;
    for (size_t d = 0; d < window.size(); ++d) tap = tap * window[d] + at[d + 2];
    at.erase(at.begin() + 2, at.begin() + 2 + static_cast<std::ptrdiff_t>(window.size()));
    return select(cast(Type::i64, positions.at(at)) == tap, dy.at(at), constant(dy.type(), 0));
  });
  return from_columns(taps, window, s, image);
}

enum class Counts : uint8_t { all, inside, with_padding };

// How many taps of the window at a position count.
inline Expression taps_that_count(const Expression &position, const Expression &window, const Expression &extent,
                                  const Slide &s, Counts counts) {
  if (counts == Counts::all) return window;
  const bool padded = counts == Counts::with_padding;
  const Expression start = position * s.stride - (padded ? Expression(0) : s.pad);
  const Expression end = padded ? extent + s.pad + behind(s) : extent;
  const Expression first = quotient(max(-start, 0) + s.dilation - 1, s.dilation);
  const Expression last = min(quotient(max(end - 1 + s.dilation - start, 0), s.dilation), window);
  return max(last - first, 0);
}

inline Value average_pool(const Value &x, const Window &window, const Slides &s, Counts counts = Counts::all) {
  const Value all = pooled(Function::sum, x, window, s, 0);
  return inlined(all.extents(), [&](const Axes &at) {
    Expression count = 1;
    for (size_t d = 0; d < window.size(); ++d)
      count = count * taps_that_count(at[d + 2], window[d], x.extent(static_cast<int>(d) + 2), s[d], counts);
    return all.at(at) / cast(x.type(), max(count, 1));
  });
}

inline Value norm_pool(const Value &x, const Window &window, const Slides &s, int64_t p) {
  const Value size = abs(x), power_of = p == 1 ? size : p == 2 ? x * x : power(size, static_cast<double>(p));
  const Value all = pooled(Function::sum, power_of, window, s, 0);
  return p == 1 ? all : p == 2 ? sqrt(all) : power(all, 1 / static_cast<double>(p));
}

}  // namespace saltern::algorithms
