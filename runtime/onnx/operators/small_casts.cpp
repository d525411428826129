#include "runtime/onnx/operators/small_casts.h"

#include <cmath>
#include <limits>

#include "runtime/onnx/operators/arguments.h"
#include "runtime/tensor/small_floats.h"

namespace saltern {

namespace {

using formula::Function;

Expression code(Type type, uint8_t bits) { return bits_as(type, formula::constant_integer(Type::u8, bits)); }

// A power of two is the exponent of an f32, next to the fraction that decides on the rounding. Where the exponent is 0
// the fraction is all there is: half of it is the smallest power.
Expression power_of_two(const Expression &x, bool saturate, Rounding rounding) {
  constexpr int64_t half = 1 << 22, largest = 0xFE, not_a_number = 0xFF;
  const Expression bits = cast(Type::i64, bits_as(Type::u32, cast(Type::f32, x)));
  const Expression exponent = bits / (2 * half) % 256, fraction = bits % (2 * half);
  const Expression smallest = exponent == 0;
  Expression rounded = exponent;
  if (rounding == Rounding::up) rounded = exponent + cast(Type::i64, select(smallest, fraction > half, fraction > 0));
  if (rounding == Rounding::nearest)
    rounded = exponent + cast(Type::i64, select(smallest, fraction > half, fraction >= half));
  if (saturate) {
    rounded = min(rounded, largest);
    rounded = select(exponent == 255 && fraction > 0, index(not_a_number), rounded);
  } else {
    rounded = select(exponent == 255 || (smallest && fraction < half), index(not_a_number), rounded);
  }
  return bits_as(Type::f8e8m0, cast(Type::u8, rounded));
}

// The cast itself saturates; numbers beyond the largest become what the type has for them.
Expression without_saturation(Type type, const Expression &x) {
  const float largest = largest_small(type);
  const uint8_t last = small_of_f32(type, largest);
  const float tie = largest + (largest - f32_of_small(type, static_cast<uint8_t>(last - 1))) / 2;
  const bool tie_is_too_large = !std::isfinite(f32_of_small(type, small_of_f32(type, tie, false)));
  const Expression v = x.type() == Type::f64 ? x : cast(Type::f32, x), size = abs(v);
  const Expression too_large = tie_is_too_large ? size >= tie : size > tie;
  const float infinity = std::numeric_limits<float>::infinity();
  return select(
      too_large,
      select(v > 0, code(type, small_of_f32(type, infinity, false)), code(type, small_of_f32(type, -infinity, false))),
      cast(type, x));
}

// A type that has no NaN has -0 in its place, as ONNX's own conversion does.
Expression without_nan(Type type, const Expression &x) {
  const Expression v = x.type() == Type::f64 ? x : cast(Type::f32, x);
  return select(call(Function::is_nan, v), bits_as(type, formula::constant_integer(Type::u4, 8)), cast(type, x));
}

}  // namespace

Expression cast_to(Type type, const Expression &x, bool saturate, Rounding rounding) {
  if (type == x.type()) return x;
  if (type == Type::f8e8m0) return power_of_two(x, saturate, rounding);
  if (type == Type::f4e2m1 && is_real(x.type())) return without_nan(type, x);
  return facts(type).is_small_real() && facts(type).bits == 8 && !saturate ? without_saturation(type, x)
                                                                           : cast(type, x);
}

}  // namespace saltern
