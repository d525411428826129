#pragma once
// Elementary functions that Halide has only as a scalar library call for each lane, or wrong of NaN, infinity and what
// is large: as polynomials and rational functions in f32, which vectorize. In other types they are the library's, of
// which Halide derives gradients, too.
//
// What the standard says of NaN and infinity holds: NaN gives NaN, exp(-infinity) = 0, log(0) = -infinity, and
// power(x, 0) = 1 for every x. Halide lets LLVM assume that there is neither; so what decides is asked strictly or of
// the bits, and what is made is the result of a strict operation, or one of integers.

#include <Halide.h>

#include <cmath>
#include <initializer_list>

#include "dsl/float_bits.h"

namespace saltern::dsl {

// A number of the same type as x: formulas hold for every element type.
inline Halide::Expr number(const Halide::Expr &x, double value) {
  return Halide::Internal::make_const(x.type(), value);
}

// c0 + c1 x + c2 x^2 + ..., given the last coefficient first.
inline Halide::Expr polynomial(const Halide::Expr &x, std::initializer_list<double> last_first) {
  Halide::Expr sum;
  for (double c : last_first) sum = sum.defined() ? sum * x + number(x, c) : number(x, c);
  return sum;
}

// clamp() that lets NaN through: each comparison is of what it chooses, which is one instruction.
inline Halide::Expr limited(const Halide::Expr &x, double low, double high) {
  const Halide::Expr below = Halide::select(is_less(number(x, high), x), number(x, high), x);
  return Halide::select(is_less(below, number(x, low)), number(x, low), below);
}

// Relative error below 4e-7 everywhere (the [13/8] minimax approximation of Eigen and XLA).
inline Halide::Expr erf(const Halide::Expr &x) {
  if (x.type() != Halide::Float(32))
    return Halide::Internal::Call::make(x.type(), "erf", {x}, Halide::Internal::Call::PureExtern);
  const Halide::Expr s = x * x;
  const Halide::Expr odd =
      polynomial(s, {-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05,
                     -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02});
  const Halide::Expr even = polynomial(s, {-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03,
                                           -7.37332916720468e-03, -1.42647390514189e-02});
  const Halide::Expr inside = strict(Halide::Internal::Call::strict_div, x * odd, even);
  return Halide::select(strict_less(x, number(x, -4)), number(x, -1), strict_less(number(x, 4), x), number(x, 1),
                        inside);
}

// The whole number nearest to y, as a float and in the low bits of an integer: those of y + 1.5 2^23, where floats are
// whole. Two instructions; rounding takes four on AVX-512, and its conversion to an integer one more.
struct Whole {
  Halide::Expr number, bits;
};

inline Whole nearest_whole(const Halide::Expr &y) {
  using Halide::Internal::Call;
  const Halide::Expr magic = number(y, 0x1.8p23), sum = strict(Call::strict_add, y, magic);
  return {strict(Call::strict_sub, sum, magic), Halide::reinterpret<uint32_t>(sum)};
}

// 2^k for -127 <= k - below <= 128, of which the first is 0 and the last infinity.
inline Halide::Expr power_of_two(const Whole &k, int below = 0) {
  return Halide::reinterpret<float>((k.bits + Halide::Expr(static_cast<uint32_t>(127 - below))) << 23);
}

// e^x = 2^k e^r with a whole k, and |r| <= log(2) / 2. A result below 1.7e-38 is 0. Relative error below 3e-7.
inline Halide::Expr exp(const Halide::Expr &given) {
  if (given.type() != Halide::Float(32)) return Halide::exp(given);
  // Here 2^(k - 1) has the bits of 0 at the low end, of infinity at the high one; of NaN it is any number.
  const Halide::Expr x = limited(given, -87.6, 89);
  const Whole k = nearest_whole(x * number(x, 1.4426950408889634));
  const Halide::Expr r = x - k.number * number(x, 0.69314718055994531);
  const Halide::Expr twice = polynomial(r, {0.0027628934476524591, 0.01673756167292595, 0.08333678543567658,
                                            0.3333303928375244, 0.9999998807907104, 2, 2});  // 2 e^r, minimax
  return strict(Halide::Internal::Call::strict_mul, twice, power_of_two(k, 1));
}

// tanh |x| = m / (m + 2) with m = e^2|x| - 1 = 2^k (e^r - 1) + (2^k - 1), r = 2|x| - k log 2, |r| <= log(2) / 2:
// nothing is taken away from its like. Relative error below 3e-7, and below 1.3e-7 where the result is near 1, as acos
// needs it. 1 from 8.3 on, two roundings away, as other programs have it: casts to integers tell.
inline Halide::Expr tanh(const Halide::Expr &x) {
  if (x.type() != Halide::Float(32)) return Halide::tanh(x);
  using Halide::Internal::Call;
  constexpr int sign = 1 << 31;
  const Halide::Expr bits = Halide::reinterpret<int32_t>(x), size = Halide::reinterpret<float>(bits & ~sign);
  const Halide::Expr u = Halide::select(strict_less(number(x, 8.3), size), number(x, 40), size);
  const Whole k = nearest_whole(u * number(x, 2.8853900817779268));
  const Halide::Expr half = u - k.number * number(x, 0.34657359027997265);  // of r
  const Halide::Expr twice = polynomial(half, {0.08888878673315048, 0.26781249046325684, 0.66667419672012329,
                                               1.3333204984664917, 1.9999998807907104, 2});  // 2 (e^r - 1) / r, minimax
  const Halide::Expr power = power_of_two(k);
  // Strict, or LLVM takes the two terms for 2^k e^r - 1.
  const Halide::Expr m = power * (half * twice) + strict(Call::strict_sub, power, number(x, 1));
  const Halide::Expr ratio = strict(Call::strict_div, m, m + 2);
  return Halide::reinterpret<float>(Halide::reinterpret<int32_t>(ratio) | (bits & sign));
}

// log x = e log 2 + log m with a whole e, and m in [0.75, 1.5) (the polynomial is Halide's own).
inline Halide::Expr log(const Halide::Expr &x) {
  if (x.type() != Halide::Float(32)) return Halide::log(x);
  constexpr int infinity = 0x7F800000, smallest_normal = 0x00800000, three_quarters = 0x3F400000;
  const Halide::Expr given = Halide::reinterpret<int32_t>(x), tiny = given < smallest_normal;
  const Halide::Expr scaled =
      Halide::select(tiny, strict(Halide::Internal::Call::strict_mul, x, number(x, 1 << 23)), x);
  // Counted from 0.75, an exponent goes up where m would be 1.5.
  const Halide::Expr bits =
      Halide::reinterpret<int32_t>(scaled) - Halide::select(tiny, three_quarters + (23 << 23), three_quarters);
  const Halide::Expr e = bits >> 23, m = Halide::reinterpret<float>((bits & 0x007FFFFF) + three_quarters);
  const Halide::Expr r = m - 1, s = r * r;
  const Halide::Expr even = polynomial(
      s, {0.05111976432738144643, 0.14971993724699017569, 0.19980668101718729313, 0.33333435275479328386, 1});
  const Halide::Expr odd = polynomial(
      s, {-0.11793923497136414580, -0.16862004708254804686, -0.24991211576292837737, -0.50000106292873236491});
  const Halide::Expr inside = even * r + odd * s + Halide::cast<float>(e) * number(x, 0.69314718055994531);
  const Halide::Expr none = Halide::select((given & 0x7FFFFFFF) == 0, infinity | 1 << 31, given == infinity, infinity,
                                           0x7FC00000);  // of 0, of infinity, of all others: NaN
  // Unsigned, 0 - 1 and what is negative are above infinity.
  const Halide::Expr is_positive = Halide::reinterpret<uint32_t>(given - 1) < Halide::Expr(uint32_t{infinity - 1});
  return Halide::reinterpret<float>(Halide::select(is_positive, Halide::reinterpret<int32_t>(inside), none));
}

// x^y as C99 has it. Relative error below 1e-7 |y log x|, or that of log.
inline Halide::Expr power(const Halide::Expr &x, const Halide::Expr &y) {
  using Halide::Internal::Call;
  const auto constant = Halide::Internal::as_const_float(y);
  // Halide multiplies for an exponent that is a whole constant.
  if (x.type() != Halide::Float(32) || (constant && *constant == std::floor(*constant))) return Halide::pow(x, y);
  const Halide::Expr size = Halide::abs(x), half = y * number(y, 0.5);
  const Halide::Expr is_whole = strict(Call::strict_eq, Halide::floor(y), y);
  const Halide::Expr is_odd = is_whole && !strict(Call::strict_eq, Halide::floor(half), half);
  const Halide::Expr is_one = strict(Call::strict_eq, x, number(x, 1)) || strict(Call::strict_eq, y, number(y, 0)) ||
                              (strict(Call::strict_eq, size, number(x, 1)) && is_infinite_in_bits(y));
  // Of a negative number: the sign is that of an odd exponent, and there is no power unless the exponent is whole.
  const Halide::Expr sign = Halide::select(Halide::reinterpret<int32_t>(x) < 0 && is_odd, 1 << 31, 0);
  const Halide::Expr is_none = is_less(x, number(x, 0)) && !is_infinite_in_bits(x) && !is_whole;
  const Halide::Expr bits = Halide::reinterpret<int32_t>(dsl::exp(strict(Call::strict_mul, y, dsl::log(size))));
  return Halide::reinterpret<float>(Halide::select(is_one, 0x3F800000, is_none, 0x7FC00000, bits | sign));
}

}  // namespace saltern::dsl
