#pragma once
// From real numbers to integers: to the nearest one, halves to even, and within the bounds of the type.

#include "dsl/expression.h"

namespace saltern {

inline formula::Expression rounded_within(Type type, const formula::Expression &value) {
  using Kind = TypeFacts::Kind;
  const TypeFacts &f = facts(type);
  if (f.kind == Kind::boolean || f.kind == Kind::real) return cast(type, value);
  const bool natural = f.kind == Kind::natural;
  // In f64 where the bounds are no f32; those of 64 bits are 2^63 - 1024 and the like, the greatest f64 below.
  const Type wide = f.bits > 16 ? Type::f64 : value.type();
  const double range = f.bits == 64 ? (natural ? 18446744073709549568.0 : 9223372036854774784.0)
                                    : static_cast<double>((uint64_t{1} << (f.bits - (natural ? 0 : 1))) - 1);
  const formula::Expression v = call(formula::Function::round, cast(wide, value));
  return cast(type, max(min(v, range), natural ? 0.0 : -range - (f.bits == 64 ? 0 : 1)));
}

}  // namespace saltern
