#pragma once
// Pooling of x(n, c, ...) over windows; pixels outside take no part.
//
//   max_pool      the greatest number: NaN is passed over, as in ONNX's reference
//   positions_of_maxima   the number of its tap, the last axis fastest, the first of equals
//   average_pool  the sum, divided by all taps, by those inside of x, or by those inside of x and its padding
//   norm_pool     (sum |x|^p)^(1/p)
//   maxima        the greatest numbers, and the numbers of their places in the image
//
// Gradients of the first two visit the windows that may see an element. A derived one goes through all taps of a window
// where strides and dilations are known at run time only: a halving pool would take four steps instead of one.

#include <cmath>
#include <functional>
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

inline Expression number_or_lowest(const Expression &e) {
  return is_real(e.type()) ? select(call(Function::is_nan, e), literal(e, lowest(e.type())), e) : e;
}

// The sum of each window, or the best of its numbers, or the place of that.
inline Value pooled(Function f, const Value &x, const Window &window, const Slides &s) {
  return compute("pool", windows(x, x.extent(1), window, s), [&](const Axes &at) {
    return reduce_open(f, window, [&](const Axes &k) {
      const Axes from = tap_of(at, at[1], k, s);
      return f == Function::sum ? x.or_else(0, from) : number_or_lowest(x.or_else(lowest(x.type()), from));
    });
  });
}

inline Value max_pool(const Value &x, const Window &window, const Slides &s) {
  return pooled(Function::greatest, x, window, s);
}

// Of windows of nothing but -infinity the first tap inside.
inline Value positions_of_maxima(const Value &x, const Window &window, const Slides &s, Type type = Type::i64) {
  const Value places = pooled(Function::first_greatest, x, window, s);
  return inlined(places.extents(), [&](const Axes &at) {
    Expression first = 0;
    for (size_t d = 0; d < window.size(); ++d) first = first * window[d] + first_inside(at[d + 2], window[d], s[d]);
    return max(cast(type, places.at(at)), cast(type, first));
  });
}

// What stands in x at positions that positions_of_maxima() gave, of any image of the same extents; 0 outside.
inline Value at_positions(const Value &positions, const Value &x, const Window &window, const Slides &s) {
  return compute("at_positions", positions.extents(), [&](const Axes &at) {
    // In the type of positions: that of indices has more bits than there are in memory.
    const auto narrow = [&](const Expression &e) { return cast(positions.type(), e); };
    Axes from = {at[0], at[1]};
    Expression tap = positions.at(at), is_inside = truth(true);
    for (size_t d = window.size(); d-- > 0;) {
      const Expression rest = d == 0 ? narrow(0) : tap / narrow(window[d]);
      const Expression place =
          narrow(at[d + 2] * s[d].stride - s[d].pad) + (tap - rest * narrow(window[d])) * narrow(s[d].dilation);
      is_inside = is_inside && narrow(0) <= place && place < narrow(x.extent(static_cast<int>(d) + 2));
      from.insert(from.begin() + 2, cast(Type::i64, place));
      tap = rest;
    }
    return select(is_inside, x.at(from), constant(x.type(), 0));
  });
}

// An image of these extents: each of its elements is the sum of what `of` gives for the windows of dy that see it, at
// their places in dy, and the number of the tap.
inline Value gathered(const Value &dy, const Window &window, const Slides &s, const std::vector<Expression> &image,
                      const std::function<Expression(const Axes &place, const Expression &tap)> &of) {
  Window steps;
  for (size_t d = 0; d < window.size(); ++d) steps.push_back(sights(window[d], s[d]));
  return compute("d_image", image, [&](const Axes &at) {
    return sum(steps, [&](const Axes &number) {
      Axes place = {at[0], at[1]};
      Expression tap = 0, is_seen = truth(true);
      for (size_t d = 0; d < window.size(); ++d) {
        const Sight seen = sight(at[d + 2], number[d], window[d], dy.extent(static_cast<int>(d) + 2), s[d]);
        place.push_back(seen.position);
        tap = tap * window[d] + seen.tap;
        is_seen = is_seen && seen.is_seen;
      }
      return select(is_seen, of(place, tap), constant(dy.type(), 0));
    });
  });
}

// From the positions of the maxima.
inline Value max_pool_gradient(const Value &positions, const Value &dy, const Window &window, const Slides &s,
                               const std::vector<Expression> &image) {
  return gathered(dy, window, s, image, [&](const Axes &place, const Expression &tap) {
    return select(positions.at(place) == cast(positions.type(), tap), dy.at(place), constant(dy.type(), 0));
  });
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

// By what the sum of the window at a place of y is divided, of images of these extents.
using Divisor = std::function<Expression(const Axes &place)>;
inline Divisor divisor(const Window &window, const Slides &s, const std::vector<Expression> &image, Counts counts) {
  return [=](const Axes &place) {
    Expression count = 1;
    for (size_t d = 0; d < window.size(); ++d)
      count = count * taps_that_count(place[d + 2], window[d], image[d + 2], s[d], counts);
    return max(count, 1);
  };
}

inline Value average_pool(const Value &x, const Window &window, const Slides &s, const Divisor &by) {
  const Value all = pooled(Function::sum, x, window, s);
  return inlined(all.extents(), [&](const Axes &at) { return all.at(at) / cast(x.type(), by(at)); });
}
inline Value average_pool(const Value &x, const Window &window, const Slides &s, Counts counts = Counts::all) {
  return average_pool(x, window, s, divisor(window, s, x.extents(), counts));
}

inline Value average_pool_gradient(const Value &dy, const Window &window, const Slides &s,
                                   const std::vector<Expression> &image, const Divisor &by) {
  return gathered(dy, window, s, image,
                  [&](const Axes &place, const Expression &) { return dy.at(place) / cast(dy.type(), by(place)); });
}

inline Value norm_pool(const Value &x, const Window &window, const Slides &s, int64_t p) {
  const Value size = abs(x), power_of = p == 1 ? size : p == 2 ? x * x : power(size, static_cast<double>(p));
  const Value all = pooled(Function::sum, power_of, window, s);
  return p == 1 ? all : p == 2 ? sqrt(all) : power(all, 1 / static_cast<double>(p));
}

// PyTorch's: powers keep their signs, and a window that reaches past the edge counts as a whole one.
inline Value power_pool(const Value &x, const Window &window, const Slides &s, double p) {
  const Value powers = named("powers", p == 1 ? x : p == 2 ? x * x : power(x, p));
  const Value mean = average_pool(powers, window, s, Counts::with_padding);
  Expression taps = 1;
  for (const Expression &extent : window) taps = taps * extent;
  const Value all = mean * cast(x.type(), inlined({}, [&](const Axes &) { return taps; }));
  return p == 1 ? all : p == 2 ? sqrt(all) : power(all, 1 / p);
}

struct Maxima {
  Value values, indices;  // the last axis fastest
};

// Of the taps that stand at `taps`, which lie where `place` says. The gradient goes back to these places.
inline Maxima at_taps(const Value &x, const Value &taps, const Window &window,
                      const std::function<Axes(const Axes &at, const Axes &k)> &place) {
  const auto from = [&](const Axes &at) {
    Axes k(window.size());
    Expression rest = taps.at(at);
    for (size_t d = window.size(); d-- > 0;) {
      k[d] = modulo(rest, window[d]);
      rest = quotient(rest, window[d]);
    }
    return place(at, k);
  };
  const Value indices = compute("indices", taps.extents(), [&](const Axes &at) {
    const Axes where = from(at);
    Expression all = 0;
    for (size_t d = 2; d < where.size(); ++d) all = all * x.extent(static_cast<int>(d)) + where[d];
    return all;
  });
  return {compute("values", taps.extents(), [&](const Axes &at) { return x.at(from(at)); }), indices};
}

inline Maxima maxima(const Value &x, const Window &window, const Slides &s) {
  const Value taps = named("taps", positions_of_maxima(x, window, s));
  return at_taps(x, taps, window, [&](const Axes &at, const Axes &k) { return tap_of(at, at[1], k, s); });
}

}  // namespace saltern::algorithms
