#pragma once
// Casts as ONNX describes them, in formulas: to the floats of 8 and 4 bits, what becomes of numbers that are too large and
// which way powers of two round; and to integers.

#include "runtime/onnx/operators/lowering.h"

namespace saltern {

enum class Rounding : uint8_t { up, down, nearest };  // of f8e8m0

// x in `type`, which may be any but texts. `saturate` and `rounding` matter for floats of 8 bits only.
Expression cast_to(Type type, const Expression &x, bool saturate, Rounding rounding = Rounding::up);

// From real numbers to integers: to the nearest one, halves to even, and within the bounds of the type.
inline Expression rounded_within(Type type, const Expression &value) {
  using Kind = TypeFacts::Kind;
  const TypeFacts &f = facts(type);
  if (f.kind == Kind::boolean || f.kind == Kind::real) return cast(type, value);
  const bool natural = f.kind == Kind::natural;
  // In f64 where the bounds are no f32; those of 64 bits are 2^63 - 1024 and the like, the greatest f64 below.
  const Type wide = f.bits > 16 ? Type::f64 : value.type();
  const double range = f.bits == 64 ? (natural ? 18446744073709549568.0 : 9223372036854774784.0)
                                    : static_cast<double>((uint64_t{1} << (f.bits - (natural ? 0 : 1))) - 1);
  const Expression v = call(formula::Function::round, cast(wide, value));
  return cast(type, max(min(v, range), natural ? 0.0 : -range - (f.bits == 64 ? 0 : 1)));
}

// round(value) + zero within the bounds of an integer type of 16 bits or fewer; what is no number is the least one. Bounds
// come first, which is the same, since they are integers: a number that is small is rounded quickly.
inline Expression rounded_from(Type type, const Expression &value, int64_t zero) {
  const TypeFacts &f = facts(type);
  const bool natural = f.kind == TypeFacts::Kind::natural;
  const int64_t least = natural ? 0 : -(int64_t{1} << (f.bits - 1)), most = least + (int64_t{1} << f.bits) - 1;
  const Expression low = literal(value, static_cast<double>(least - zero)),
                   high = literal(value, static_cast<double>(most - zero)),
                   whole = call(formula::Function::round, select(low < value, min(value, high), low));
  return cast(type, zero == 0 ? whole : whole + static_cast<double>(zero));
}

}  // namespace saltern
