#include "dsl/partials.h"

#include <cmath>
#include <map>

namespace saltern::formula {

Expression plus(const Expression &a, const Expression &b) {
  if (is_number(a, 0)) return b;
  return is_number(b, 0) ? a : a + b;
}

Expression times(const Expression &a, const Expression &b) {
  if (is_number(a, 0)) return a;
  if (is_number(b, 0)) return b;
  if (is_number(a, 1)) return b;
  if (is_number(b, 1)) return a;
  if (is_number(a, -1)) return minus(b);
  return is_number(b, -1) ? minus(a) : a * b;
}

Expression minus(const Expression &a) {
  if (a->kind == Expression::Kind::call && a->function == Function::negate) return a->arguments[0];
  return is_number(a, 0) ? a : -a;
}

namespace {

using E = const Expression &;
using List = std::vector<Expression>;
// Of operands a and b (a again for a function of one), the value y and its adjoint.
using Partials = List (*)(E a, E b, E y, E dy);

Expression number(E like, double value) { return constant(like.type(), value); }
Expression zero(E like) { return number(like, 0); }
Expression over(E a, E b) { return is_number(a, 0) ? a : a / b; }
List two(E da, E db) { return {da, db}; }

const std::map<Function, Partials> &table() {
  static const std::map<Function, Partials> rows = {
      {Function::negate, [](E, E, E, E dy) { return List{minus(dy)}; }},
      {Function::absolute, [](E a, E, E, E dy) { return List{select(a > 0, dy, select(a < 0, minus(dy), zero(a)))}; }},
      {Function::exp, [](E, E, E y, E dy) { return List{times(dy, y)}; }},
      {Function::log, [](E a, E, E, E dy) { return List{over(dy, a)}; }},
      {Function::sqrt, [](E, E, E y, E dy) { return List{over(times(dy, number(y, 0.5)), y)}; }},
      {Function::sine, [](E a, E, E, E dy) { return List{times(dy, call(Function::cosine, a))}; }},
      {Function::cosine, [](E a, E, E, E dy) { return List{minus(times(dy, call(Function::sine, a)))}; }},
      {Function::tangent, [](E, E, E y, E dy) { return List{times(dy, 1 + y * y)}; }},
      {Function::arcsine, [](E a, E, E, E dy) { return List{over(dy, sqrt(1 - a * a))}; }},
      {Function::arccosine, [](E a, E, E, E dy) { return List{minus(over(dy, sqrt(1 - a * a)))}; }},
      {Function::arctangent, [](E a, E, E, E dy) { return List{over(dy, 1 + a * a)}; }},
      {Function::sinh, [](E a, E, E, E dy) { return List{times(dy, call(Function::cosh, a))}; }},
      {Function::cosh, [](E a, E, E, E dy) { return List{times(dy, call(Function::sinh, a))}; }},
      {Function::tanh, [](E, E, E y, E dy) { return List{times(dy, 1 - y * y)}; }},
      {Function::arcsinh, [](E a, E, E, E dy) { return List{over(dy, sqrt(a * a + 1))}; }},
      {Function::arccosh, [](E a, E, E, E dy) { return List{over(dy, sqrt(a * a - 1))}; }},
      {Function::arctanh, [](E a, E, E, E dy) { return List{over(dy, 1 - a * a)}; }},
      {Function::erf, [](E a, E, E, E dy) { return List{times(dy, exp(-(a * a)) * (2 / std::sqrt(M_PI)))}; }},
      {Function::add, [](E, E, E, E dy) { return two(dy, dy); }},
      {Function::subtract, [](E, E, E, E dy) { return two(dy, minus(dy)); }},
      {Function::multiply, [](E a, E b, E, E dy) { return two(times(dy, b), times(dy, a)); }},
      // One division does, of 1 by b: y = a / b would be made again, unless it is that.
      {Function::divide,
       [](E a, E b, E y, E dy) {
         const Expression by_a = over(dy, b), r = is_number(a, 1) ? y : 1 / b;
         return two(by_a, minus(times(times(dy, r), times(a, r))));
       }},
      // a - b times a whole number, which is flat.
      {Function::remainder,
       [](E a, E b, E, E dy) { return two(dy, minus(times(dy, call(Function::truncate, a / b)))); }},
      {Function::modulo, [](E a, E b, E, E dy) { return two(dy, minus(times(dy, floor(a / b)))); }},
      // The logarithm counts where there is one: 0^b is flat in b.
      {Function::power,
       [](E a, E b, E y, E dy) {
         const Expression by_b = select(a > 0, times(dy, y) * log(a), zero(a));
         return two(times(dy, b * power(a, b - 1)), by_b);
       }},
      // Equal operands: the first one's.
      {Function::maximum,
       [](E a, E b, E, E dy) { return two(select(a < b, zero(a), dy), select(a < b, dy, zero(a))); }},
      {Function::minimum,
       [](E a, E b, E, E dy) { return two(select(b < a, zero(a), dy), select(b < a, dy, zero(a))); }},
  };
  return rows;
}

}  // namespace

std::vector<Expression> partials(const Expression &e, const Expression &y, const Expression &dy) {
  const auto row = table().find(e->function);
  if (row == table().end()) return {};
  const List &a = e->arguments;
  List parts = row->second(a[0], a.back(), y, dy);
  parts.resize(a.size());
  return parts;
}

}  // namespace saltern::formula
