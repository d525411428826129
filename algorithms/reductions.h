#pragma once
// Reductions over the middle of three axes; a tensor of any rank reads as three axes around the reduced one.
//
//   x(b, r, a)  ->  y(b, a) = sum, product, greatest or least over r of x(b, r, a), and the place of the best of them

#include "dsl/value.h"

namespace saltern::algorithms {

using namespace formula;

inline Value over_middle(Function f, const Value &x) {
  return compute(name(f), {x.extent(0), x.extent(2)}, [&](Expression b, Expression a) {
    return reduce_open(f, {x.extent(1)}, [&](const Axes &r) { return x(b, r[0], a); });
  });
}

// What a best element's gradient is: at its place.
inline Value at_its_place(const Value &place, const Value &dy, const Expression &count) {
  return compute("at_its_place", {dy.extent(0), count, dy.extent(1)}, [&](Expression b, Expression r, Expression a) {
    return select(cast(Type::i64, place(b, a)) == r, dy(b, a), constant(dy.type(), 0));
  });
}

}  // namespace saltern::algorithms
