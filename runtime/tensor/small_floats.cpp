#include "runtime/tensor/small_floats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/error.h"

namespace saltern {

namespace {

uint32_t bits_of(float f) {
  uint32_t b;
  std::memcpy(&b, &f, sizeof b);
  return b;
}

float float_of(uint32_t b) {
  float f;
  std::memcpy(&f, &b, sizeof f);
  return f;
}

// A float of 1 sign bit, some exponent bits and some mantissa bits.
struct Format {
  int exponent_bits, mantissa_bits, bias;
  bool has_infinity;
  bool negative_zero_is_nan;  // and the only NaN ("fnuz")
  int largest_code;           // of a finite value
  int nan_code;               // -1: there is none
};

const Format &format_of(Type type) {
  static const Format e4m3fn = {4, 3, 7, false, false, 0x7E, 0x7F}, e4m3fnuz = {4, 3, 8, false, true, 0x7F, 0x80},
                      e5m2 = {5, 2, 15, true, false, 0x7B, 0x7E}, e5m2fnuz = {5, 2, 16, false, true, 0x7F, 0x80},
                      e2m1 = {2, 1, 1, false, false, 0x7, -1};
  switch (type) {
    case Type::f8e4m3fn:
      return e4m3fn;
    case Type::f8e4m3fnuz:
      return e4m3fnuz;
    case Type::f8e5m2:
      return e5m2;
    case Type::f8e5m2fnuz:
      return e5m2fnuz;
    case Type::f4e2m1:
      return e2m1;
    default:
      fail("not a float of 8 or 4 bits: ", facts(type).name);
  }
}

float magnitude(const Format &f, int code) {
  const int exponent = code >> f.mantissa_bits, mantissa = code & ((1 << f.mantissa_bits) - 1);
  const int implied = exponent == 0 ? 0 : 1 << f.mantissa_bits;
  return std::ldexp(static_cast<float>(implied + mantissa), (exponent == 0 ? 1 : exponent) - f.bias - f.mantissa_bits);
}

float power_of_two(uint8_t code) {
  return code == 0xFF ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(std::ldexp(1.0, code - 127));
}

uint8_t power_of_two_code(float value) {
  if (std::isnan(value)) return 0xFF;
  const float size = std::fabs(value);
  if (!(size > power_of_two(0))) return 0;
  if (std::isinf(size)) return 0xFE;
  int exponent = 0;
  const float fraction = std::frexp(size, &exponent);  // in [0.5, 1)
  const int code = (fraction == 0.5F ? exponent - 1 : exponent) + 127;
  return static_cast<uint8_t>(std::min(code, 0xFE));
}

}  // namespace

float f32_of_f16(uint16_t code) {
  const uint32_t sign = static_cast<uint32_t>(code & 0x8000) << 16, exponent = (code >> 10) & 31,
                 mantissa = code & 1023;
  if (exponent == 31) return float_of(sign | 0x7F800000 | mantissa << 13);
  if (exponent == 0) return std::copysign(std::ldexp(static_cast<float>(mantissa), -24), sign ? -1.0F : 1.0F);
  return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
}

uint16_t f16_of_f32(float value) {
  const uint32_t bits = bits_of(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const float size = std::fabs(value);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7E00);
  if (size >= 65520.0F) return static_cast<uint16_t>(sign | 0x7C00);
  if (size < 6.103515625e-05F)  // subnormal: units of 2^-24
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::nearbyint(std::ldexp(size, 24))));
  const uint32_t rounded = (bits & 0x7FFFFFFF) + 0xFFF + (bits >> 13 & 1);
  return static_cast<uint16_t>(sign | ((rounded >> 13) - (112 << 10)));
}

float f32_of_bf16(uint16_t code) { return float_of(static_cast<uint32_t>(code) << 16); }

uint16_t bf16_of_f32(float value) {
  const uint32_t bits = bits_of(value);
  if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

float f32_of_small(Type type, uint8_t code) {
  if (type == Type::f8e8m0) return power_of_two(code);
  const Format &f = format_of(type);
  const int sign_bit = 1 << (f.exponent_bits + f.mantissa_bits), size = code & (sign_bit - 1);
  const bool negative = (code & sign_bit) != 0;
  if (f.negative_zero_is_nan && code == sign_bit) return std::numeric_limits<float>::quiet_NaN();
  if (!f.negative_zero_is_nan && size > f.largest_code) {
    const bool infinite = f.has_infinity && size == f.largest_code + 1;
    const float special = infinite ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    return negative ? -special : special;
  }
  return negative ? -magnitude(f, size) : magnitude(f, size);
}

uint8_t small_of_f32(Type type, float value, bool saturate) {
  if (type == Type::f8e8m0) return power_of_two_code(value);
  const Format &f = format_of(type);
  const int sign_bit = 1 << (f.exponent_bits + f.mantissa_bits);
  if (std::isnan(value)) return static_cast<uint8_t>(f.nan_code >= 0 ? f.nan_code : f.largest_code);
  const int sign = std::signbit(value) ? sign_bit : 0;
  const float size = std::fabs(value), largest = magnitude(f, f.largest_code);
  int code = 0;
  if (size > 0) {
    int exponent = 0;
    if (std::isinf(size))
      exponent = 128;
    else
      std::frexp(size, &exponent);
    exponent = std::max(exponent - 1, 1 - f.bias);  // of the leading bit, or that of the subnormals
    const double units =
        std::isinf(size) ? 1e30 : std::nearbyint(std::ldexp(static_cast<double>(size), f.mantissa_bits - exponent));
    const double rounded = std::isinf(size) ? 1e30 : std::ldexp(units, exponent - f.mantissa_bits);
    if (rounded > largest) {
      if (saturate) return static_cast<uint8_t>(sign | f.largest_code);
      if (f.has_infinity) return static_cast<uint8_t>(sign | (f.largest_code + 1));
      return static_cast<uint8_t>(f.nan_code < 0           ? sign | f.largest_code
                                  : f.negative_zero_is_nan ? f.nan_code
                                                           : sign | f.nan_code);
    }
    // Units past the mantissa carry into the exponent by themselves.
    code = static_cast<int>(units) + ((exponent - (1 - f.bias)) << f.mantissa_bits);
  }
  if (code == 0 && f.negative_zero_is_nan) return 0;
  return static_cast<uint8_t>(sign | code);
}

float largest_small(Type type) {
  return type == Type::f8e8m0 ? power_of_two(0xFE) : magnitude(format_of(type), format_of(type).largest_code);
}

}  // namespace saltern
