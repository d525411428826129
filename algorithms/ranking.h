#pragma once
// Order along an axis, as formulas: each element is compared with all others, so that it takes the square of the extent.
//
//   rank(i)   = how many come before x(i): those above it, and of equal ones those further in front; a NaN is above all
//   place(i)  = where the element of rank i is
//   value(i)  = x(place(i)), whose gradient goes back to that place

#include "dsl/value.h"

namespace saltern::algorithms {

using namespace formula;

inline Axes with_index(Axes at, int axis, const Expression &index) {
  at[static_cast<size_t>(axis)] = index;
  return at;
}

// The greatest first, or the least.
inline Value ranks(const Value &x, int axis, bool largest) {
  const Type type = is_real(x.type()) && facts(x.type()).bits == 16 ? Type::f32 : x.type();
  const auto above = [&](const Expression &a, const Expression &b) {
    return is_real(type) ? a > b || (call(Function::is_nan, a) && !call(Function::is_nan, b)) : a > b;
  };
  return compute("ranks", x.extents(), [&](const Axes &at) {
    const Expression here = cast(type, x.at(at));
    return reduce_open(Function::sum, {x.extent(axis)}, [&](const Axes &s) {
      const Expression other = cast(type, x.at(with_index(at, axis, s[0])));
      const Expression before = largest ? above(other, here) : above(here, other);
      const Expression after = largest ? above(here, other) : above(other, here);
      return cast(Type::i64, before || (!after && s[0] < at[static_cast<size_t>(axis)]));
    });
  });
}

struct Ranked {
  Value values, places;
};

// The first `count` along an axis, in their order.
inline Ranked top(const Value &x, int axis, const Expression &count, bool largest = true) {
  const Value rank = ranks(x, axis, largest);
  const Value places = compute("places", with_index(x.extents(), axis, count), [&](const Axes &at) {
    return reduce_open(Function::sum, {x.extent(axis)}, [&](const Axes &s) {
      const Expression here = rank.at(with_index(at, axis, s[0]));
      return select(here == at[static_cast<size_t>(axis)], s[0], Expression(0));
    });
  });
  return {inlined(places.extents(), [&](const Axes &at) { return x.at(with_index(at, axis, places.at(at))); }), places};
}

inline Value sorted(const Value &x, int axis, bool descending = false) {
  return top(x, axis, x.extent(axis), descending).values;
}

}  // namespace saltern::algorithms
