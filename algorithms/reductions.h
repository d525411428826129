#pragma once
// Reductions over axes, which keep an extent of 1; and over the middle of three axes, as which a tensor of any rank reads
// around the reduced one.
//
//   x(b, r, a)  ->  y(b, a) = sum, product, greatest or least over r of x(b, r, a), and the place of the best of them

#include "dsl/value.h"

namespace saltern::algorithms {

using namespace formula;

inline Value l1_norm(const Value &x, const std::vector<int> &axes) { return sum(abs(x), axes); }
inline Value sum_of_squares(const Value &x, const std::vector<int> &axes) { return sum(x * x, axes); }
inline Value l2_norm(const Value &x, const std::vector<int> &axes) { return sqrt(sum_of_squares(x, axes)); }
inline Value log_sum(const Value &x, const std::vector<int> &axes) { return log(sum(x, axes)); }

// Less the greatest in between, so that nothing overflows; but infinities cannot be taken away from each other.
inline Value log_sum_exp(const Value &x, const std::vector<int> &axes) {
  const Value largest = greatest(x, axes);
  const Value base = named("base", stop_gradient(where(map(Function::is_infinite, largest), 0, largest)));
  return log(sum(exp(x - base), axes)) + base;
}

// The sum or the product of all elements up to each along an axis, itself included or not; or of all from it on.
inline Value running(Function f, const Value &x, int axis, bool exclusive = false, bool reverse = false) {
  const bool adds = f == Function::sum;
  const auto a = static_cast<size_t>(axis);
  const Expression last = x.extent(axis) - 1;
  const Value none = constant_value(x.type(), adds ? 0 : 1);
  const Value y = scan(name(f), x.extents(), axis, none, [&](Axes at, const Expression &so_far) {
    const Expression t = at[a], from = exclusive ? t - 1 : t;
    at[a] = reverse ? last - from : from;
    const Expression next = adds ? so_far + x.at(at) : so_far * x.at(at);
    return exclusive ? select(t == 0, so_far, next) : next;
  });
  if (!reverse) return y;
  return inlined(x.extents(), [&](Axes at) {
    at[a] = last - at[a];
    return y.at(at);
  });
}

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
