#include "generators/small_float_code.h"

#include <limits>

#include "runtime/tensor/small_floats.h"
#include "schedules/forms/float_bits.h"

namespace saltern::generators {

using forms::is_infinity;
using forms::is_not_a_number;
using forms::strict;
using Halide::cast;
using Halide::Expr;
using Halide::select;
using Halide::Internal::Call;

// All values of a type stand in a table: 256 at most.
Expr f32_of_small_code(Type type, const Expr &code) {
  Halide::Buffer<float> table(256);
  for (int i = 0; i < 256; ++i) table(i) = f32_of_small(type, static_cast<uint8_t>(i));
  return table(cast<int32_t>(code));
}

// The code of a magnitude is the number of halfway points below it: codes are in the order of their values. A halfway
// point itself goes to the even code.
Expr small_code_of_f32(Type type, const Expr &value, bool saturate) {
  const int sign_bit = facts(type).bits == 4 ? 8 : 128;
  const Expr nan = is_not_a_number(value);
  if (type == Type::f8e8m0) {
    // Rounded up to a power of two: the exponent of f32, and one more where the mantissa is not zero.
    const Expr bits = Halide::reinterpret<uint32_t>(Halide::abs(value));
    const Expr up = (bits >> 23) + select((bits & 0x7FFFFF) != 0, cast<uint32_t>(1), cast<uint32_t>(0));
    const Expr lowest = bits <= 0x400000;  // 2^-127, a subnormal of f32, and below
    return cast<uint8_t>(select(nan, 0xFF, lowest, 0, cast<int32_t>(Halide::min(up, cast<uint32_t>(0xFE)))));
  }
  int largest = 0;
  while (f32_of_small(type, static_cast<uint8_t>(largest)) < largest_small(type)) ++largest;
  Halide::Buffer<float> halfway(largest);
  for (int i = 0; i < largest; ++i)
    halfway(i) = static_cast<float>((static_cast<double>(f32_of_small(type, static_cast<uint8_t>(i))) +
                                     f32_of_small(type, static_cast<uint8_t>(i + 1))) /
                                    2);
  // A binary search of a fixed number of turns.
  const Expr size = Halide::abs(value);
  Expr code = 0;
  for (int step = 64; step > 0; step /= 2) {
    const Expr next = code + step, at = halfway(Halide::clamp(next - 1, 0, largest - 1));
    const Expr passed = strict(Call::strict_lt, at, size) || (strict(Call::strict_eq, size, at) && (next % 2) == 0);
    code = select(next <= largest && passed, next, code);
  }
  if (!saturate && type == Type::f8e5m2) code = select(is_infinity(value), 0x7C, code);
  const uint8_t nan_code = small_of_f32(type, std::numeric_limits<float>::quiet_NaN());
  const bool has_negative_zero = small_of_f32(type, -0.0F) != 0;
  const Expr negative =
      Halide::reinterpret<int32_t>(value) < 0 && (has_negative_zero ? Halide::Internal::const_true() : code != 0);
  const Expr signed_code = select(nan, static_cast<int>(nan_code), code + select(negative, sign_bit, 0));
  // Each turn reads the one before several times: Halide, which walks expressions as trees, is to find them named.
  return Halide::Internal::common_subexpression_elimination(cast<uint8_t>(signed_code));
}

}  // namespace saltern::generators
