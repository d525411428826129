#pragma once
// An image resized along one of its axes: element o of the result lies at a place of x, whose neighbours it is made of.
//
//   place(o) = (o + 0.5) scale - 0.5, scale being how much longer x is; or o scale, where corners are aligned
//   nearest    x(floor(o scale)), or with centres x(floor((o + 0.5) scale))
//   filtered   y(o) = sum over k of weight(o, k) x(first(o) + k), the edge repeated
//   smoothed   against aliasing: a filter that is as much wider as the result is shorter, and ends at the edge
//
// First elements and weights are stages of their own, which are as long as the axis: they are made once for all pixels.

#include <cmath>

#include "algorithms/sampling.h"

namespace saltern::algorithms {

struct Resizing {
  Interpolation::Filter filter = Interpolation::Filter::linear;
  int64_t to = 1;    // the extent of the result
  double scale = 1;  // elements of x for each of the result
  bool aligned = false, smoothed = false;
};

struct Taps {
  Value first, weights;  // (o), (o, k)
};

inline Taps taps_at_places(const Resizing &how, Type type) {
  const auto place = [&](const Expression &o) {
    const Expression scale = constant(type, how.scale);
    return how.aligned ? cast(type, o) * scale : (cast(type, o) + 0.5) * scale - 0.5;
  };
  const int count = how.filter == Interpolation::Filter::linear ? 2 : 4;
  return {compute("first", {how.to}, [&](Expression o) { return cast(Type::i64, floor(place(o))) - (count / 2 - 1); }),
          compute("weights", {how.to, count},
                  [&](Expression o, Expression k) { return tap_weight(how.filter, place(o) - floor(place(o)), k); })};
}

// PyTorch's antialias, which has another cubic filter than it has without.
inline Taps smoothed_taps(const Resizing &how, const Expression &from, Type type) {
  const bool linear = how.filter == Interpolation::Filter::linear;
  const double width = std::max(how.scale, 1.0), reach = (linear ? 1 : 2) * width;
  const auto count = 2 * static_cast<int64_t>(std::ceil(reach)) + 1;
  const auto centre = [&](const Expression &o) { return (cast(type, o) + 0.5) * how.scale; };
  const auto bound = [&](const Expression &o, double side) {
    return min(max(cast(Type::i64, centre(o) + (side * reach + 0.5)), 0), from);
  };
  const Value first = compute("first", {how.to}, [&](Expression o) { return bound(o, -1); });
  const Value raw = compute("raw_weights", {how.to, count}, [&](Expression o, Expression k) {
    const Expression x = abs((cast(type, k + first(o)) - centre(o) + 0.5) * (1 / width));
    constexpr double a = -0.5;
    const Expression near = linear ? 1.0 - x : ((x * (a + 2)) - (a + 3)) * x * x + 1.0,
                     far = linear ? x * 0.0 : ((x * a - 5 * a) * x + 8 * a) * x - 4 * a;
    return select(k < bound(o, 1) - first(o), select(x < 1, near, select(x < 2, far, x * 0.0)), constant(type, 0));
  });
  return {first, named("weights", raw / sum(raw, {1}))};
}

inline Value filtered(const Value &x, int axis, const Resizing &how) {
  const auto d = static_cast<size_t>(axis);
  const Taps taps = how.smoothed ? smoothed_taps(how, x.extent(axis), x.type()) : taps_at_places(how, x.type());
  std::vector<Expression> extents = x.extents();
  extents[d] = how.to;
  return compute("filtered", extents, [&](const Axes &at) {
    return sum({taps.weights.extent(1)}, [&](const Axes &k) {
      Axes place = at;
      place[d] = max(min(taps.first(at[d]) + k[0], x.extent(axis) - 1), 0);
      return x.at(place) * taps.weights(at[d], k[0]);
    });
  });
}

// By whole numbers where the scale is that of the extents, so that what lies on an element is that one.
inline Value nearest(const Value &x, int axis, const Resizing &how, bool centres) {
  const auto d = static_cast<size_t>(axis);
  const Expression from = x.extent(axis);
  const bool exact = std::abs(how.scale * static_cast<double>(how.to) - typical_value(from)) < 1e-9;
  std::vector<Expression> extents = x.extents();
  extents[d] = how.to;
  return inlined(extents, [&](Axes at) {
    const Expression o = at[d];
    const auto by_scale = [&] {
      const Expression place = (cast(Type::f32, o) + (centres ? 0.5 : 0.0)) * how.scale;
      return min(cast(Type::i64, floor(place)), from - 1);
    };
    at[d] = !exact    ? by_scale()
            : centres ? quotient((2 * o + 1) * from, 2 * Expression(how.to))
                      : quotient(o * from, how.to);
    return x.at(at);
  });
}

}  // namespace saltern::algorithms
