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
#include <vector>

#include "schedules/forms/float_bits.h"

namespace saltern::forms {

// A number of the same type as x: formulas hold for every element type.
inline Halide::Expr number(const Halide::Expr &x, double value) {
  return Halide::Internal::make_const(x.type(), value);
}

// c0 + c1 x + c2 x^2 + ..., given the last coefficient first. In pairs, which go side by side, it takes fewer steps one
// behind the other, and more instructions.
inline Halide::Expr in_pairs(const Halide::Expr &x, const std::vector<double> &last_first) {
  const auto term = [&](size_t i) { return number(x, last_first[i]); };
  const Halide::Expr square = x * x;
  const size_t odd = last_first.size() % 2;
  Halide::Expr sum = odd == 1 ? term(0) : term(0) * x + term(1);
  for (size_t i = 2 - odd; i < last_first.size(); i += 2) sum = sum * square + (term(i) * x + term(i + 1));
  return sum;
}

// Where a term is two instructions, more than three are in pairs: exp took a tenth less so on SSE4.1, and up to a tenth
// more where a term is one.
inline Halide::Expr polynomial(const Halide::Expr &x, const std::vector<double> &last_first) {
  Halide::Expr one_by_one = number(x, last_first[0]);
  for (size_t i = 1; i < last_first.size(); ++i) one_by_one = one_by_one * x + number(x, last_first[i]);
  if (last_first.size() <= 3) return one_by_one;
  return Halide::select(Halide::target_has_feature(Halide::Target::FMA), one_by_one, in_pairs(x, last_first));
}

// min() and clamp() that let NaN through: each comparison is of what it chooses, which is one instruction.
inline Halide::Expr at_most(const Halide::Expr &x, double high) {
  return Halide::select(is_less(number(x, high), x), number(x, high), x);
}

inline Halide::Expr limited(const Halide::Expr &x, double low, double high) {
  const Halide::Expr below = at_most(x, high);
  return Halide::select(is_less(below, number(x, low)), number(x, low), below);
}

// Relative error below 4e-7 everywhere (the [13/8] minimax approximation of Eigen and XLA).
inline Halide::Expr erf(const Halide::Expr &x) {
  if (x.type() != Halide::Float(32))
    return Halide::Internal::Call::make(x.type(), "erf", {x}, Halide::Internal::Call::PureExtern);
  const Halide::Expr near = limited(x, -4, 4), s = near * near;  // where it is 1, exactly
  const Halide::Expr odd =
      polynomial(s, {-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05,
                     -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02});
  const Halide::Expr even = polynomial(s, {-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03,
                                           -7.37332916720468e-03, -1.42647390514189e-02});
  return strict(Halide::Internal::Call::strict_div, near * odd, even);
}

// k, the whole number nearest to factor y, and 2^(k - below) for -127 <= k - below <= 128, of which the first is 0 and
// the last infinity. Floats beside 1.5 2^23 are whole, and their low bits count: what is added brings the exponent's
// bias along. Three instructions; rounding alone takes four on AVX-512.
struct Whole {
  Halide::Expr number, power;
};

inline Whole nearest_whole(const Halide::Expr &y, double factor, int below = 0) {
  const Halide::Expr magic = number(y, 0x1.8p23 + 127 - below), sum = y * number(y, factor) + magic;
  // Strict, or LLVM takes away what was added.
  return {strict(Halide::Internal::Call::strict_sub, sum, magic),
          Halide::reinterpret<float>(Halide::reinterpret<uint32_t>(sum) << 23)};
}

// e^x = 2^k e^r with a whole k, and |r| <= log(2) / 2. A result below 1.7e-38 is 0. Relative error below 3.1e-7, or 4.2e-6
// where k log 2 is rounded before it is subtracted, without fused multiply-add.
inline Halide::Expr exp_by(decltype(polynomial) sum, const Halide::Expr &given) {
  if (given.type() != Halide::Float(32)) return Halide::exp(given);
  // Here 2^(k - 1) has the bits of 0 at the low end, of infinity at the high one; of NaN it is any number.
  const Halide::Expr x = limited(given, -87.6, 89);
  const Whole k = nearest_whole(x, 1.4426950408889634, 1);
  const Halide::Expr r = x - k.number * number(x, 0.69314718055994531);
  const Halide::Expr twice = sum(r, {0.0027628934476524591, 0.01673756167292595, 0.08333678543567658,
                                     0.3333303928375244, 0.9999998807907104, 2, 2});  // 2 e^r, minimax
  return strict(Halide::Internal::Call::strict_mul, twice, k.power);
}

inline Halide::Expr exp(const Halide::Expr &x) { return exp_by(polynomial, x); }

// tanh |x| = (d a + h) / (d a + h + b - h) with 2 d = 2^k - 1, h = |x| - k log(2) / 2, |h| <= 0.174, b = h / tanh h, and
// a = b + h: nothing is taken away from its like. What is below differs from what is above by b - h, which is nothing
// beside 2^25: from 9.1 on it is 1. Relative error below 2.3e-7, and below 1e-7 where the result is near 1, as acos needs
// it: there both have the same error, as they would not if each were a product and a sum of its own.
inline Halide::Expr tanh(const Halide::Expr &x) {
  if (x.type() != Halide::Float(32)) return Halide::tanh(x);
  using Halide::Internal::Call;
  const Halide::Expr size = Halide::abs(x), near = at_most(size, 9.1);
  const Whole k = nearest_whole(near, 2.8853900817779268, 1);
  const Halide::Expr h = near - k.number * number(x, 0.34657359027997265);
  const Halide::Expr b = polynomial(h * h, {-0.022157878991949865, 0.33333333047296115, 1});  // minimax
  // Strict, or LLVM parts the power from its 1/2.
  const Halide::Expr d = strict(Call::strict_sub, k.power, number(x, 0.5));
  const Halide::Expr over = d * strict(Call::strict_add, b, h) + h;
  const Halide::Expr under = strict(Call::strict_add, over, strict(Call::strict_sub, b, h));
  const auto bits = [](const Halide::Expr &v) { return Halide::reinterpret<int32_t>(v); };
  return Halide::reinterpret<float>(bits(strict(Call::strict_div, over, under)) | (bits(x) ^ bits(size)));
}

// log x = e log 2 + log m with a whole e, and m in [0.75, 1.5). The polynomial is Halide's own; its terms are in pairs,
// which go side by side. Relative error below 1.4e-7.
inline Halide::Expr log(const Halide::Expr &x) {
  if (x.type() != Halide::Float(32)) return Halide::log(x);
  using Halide::Internal::Call;
  constexpr int smallest_normal = 0x00800000, three_quarters = 0x3F400000;
  const auto bits = [](const Halide::Expr &v) { return Halide::reinterpret<int32_t>(v); };
  // Below the normal numbers, the bits count steps of 2^-149.
  const Halide::Expr tiny = bits(x) < smallest_normal;
  const Halide::Expr scaled = Halide::reinterpret<uint32_t>(Halide::select(tiny, Halide::cast<float>(bits(x)), x));
  // Counted from 0.75, an exponent goes up where m would be 1.5. It stays at its place in the bits: 2^23 e.
  const Halide::Expr exponent = (scaled - three_quarters) & Halide::Internal::make_const(Halide::UInt(32), 0xFF800000);
  const Halide::Expr e = Halide::cast<float>(bits(exponent));
  const Halide::Expr m = Halide::reinterpret<float>(scaled - exponent);
  // Strict, or LLVM takes the 1 away at the end.
  const Halide::Expr r = strict(Call::strict_sub, m, number(x, 1)), s = r * r;
  const auto pair = [&](double high, double low) { return number(x, high) * m + number(x, low - high); };  // of r
  Halide::Expr beyond = pair(0.05111976432738145, -0.11793923497136415);
  beyond = beyond * s + pair(0.14971993724699018, -0.16862004708254805);
  beyond = beyond * s + pair(0.19980668101718729, -0.24991211576292838);
  beyond = beyond * s + pair(0.33333435275479329, -0.50000106292873236);
  const Halide::Expr sum = beyond * s + (e * number(x, 0.69314718055994531 * 0x1p-23) + r);
  // 0 and infinity are their own doubles, and their logarithm is (x - 1) infinity. What is neither 0 nor above has none:
  // all bits are a NaN.
  const Halide::Expr is_bound = strict(Call::strict_eq, strict(Call::strict_add, x, x), x);
  const Halide::Expr bound = strict(Call::strict_mul, strict(Call::strict_sub, x, number(x, 1)), number(x, INFINITY));
  const Halide::Expr scale = Halide::select(tiny, number(x, -149 * 0.69314718055994531), number(x, 0));
  const Halide::Expr has_one = strict_less(number(x, 0), x) || strict(Call::strict_eq, x, number(x, 0));
  const Halide::Expr more = Halide::select(has_one, 0, -1) | bits(Halide::select(is_bound, bound, scale));
  return strict(Call::strict_add, sum, Halide::reinterpret<float>(more));
}

// x^y as C99 has it. Relative error below 1e-7 |y log x|, or that of log.
inline Halide::Expr power(const Halide::Expr &x, const Halide::Expr &y) {
  using Halide::Internal::Call;
  const auto constant = Halide::Internal::as_const_float(y);
  // Halide multiplies for an exponent that is a whole constant.
  if (x.type() != Halide::Float(32) || (constant && *constant == std::floor(*constant))) return Halide::pow(x, y);
  const Halide::Expr given = Halide::reinterpret<uint32_t>(x), size = Halide::abs(x);
  // A power to 0 is 1, as is one of 1, whatever the other is.
  const Halide::Expr is_one = strict(Call::strict_eq, y, number(y, 0)) || strict(Call::strict_eq, size, number(x, 1));
  const Halide::Expr exponent =
      Halide::select(is_one, 0, Halide::reinterpret<int32_t>(strict(Call::strict_mul, y, forms::log(size))));
  // Behind a logarithm, steps one behind the other cost more than instructions do: 1.07 of the time on AVX2.
  const Halide::Expr magnitude = Halide::reinterpret<uint32_t>(exp_by(in_pairs, Halide::reinterpret<float>(exponent)));
  // Of a negative number: the sign is that of an odd exponent, and there is no power unless the exponent is whole, as
  // infinity is, and even.
  const auto is_whole_number = [](const Halide::Expr &v) { return strict(Call::strict_eq, v, Halide::floor(v)); };
  const Halide::Expr is_whole = is_whole_number(y), is_odd = is_whole && !is_whole_number(y * number(y, 0.5));
  // As integers, negative numbers are those between -0 and -infinity.
  const Halide::Expr is_negative = Halide::reinterpret<int32_t>(given - 1) < -0x00800001;
  const Halide::Expr sign = Halide::select(is_odd, given, Halide::Internal::make_zero(Halide::UInt(32))) &
                            Halide::Internal::make_const(Halide::UInt(32), 0x80000000);
  return Halide::reinterpret<float>(Halide::select(is_negative && !is_whole, Halide::UInt(32).max(), magnitude | sign));
}

}  // namespace saltern::forms
