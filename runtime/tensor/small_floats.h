#pragma once
// Floats of 16, 8 and 4 bits as codes, from and to f32. Conversions round to the nearest, ties to even.

#include <cstdint>

#include "dsl/types.h"

namespace saltern {

float f32_of_f16(uint16_t code);
uint16_t f16_of_f32(float value);
float f32_of_bf16(uint16_t code);
uint16_t bf16_of_f32(float value);

// Of the types of which facts(type).is_small_real() holds. What is too large becomes the largest, or where `saturate`
// is false infinity or, in a type that has none, NaN. f8e8m0 is a power of two, rounded up; what is too small for it
// becomes its smallest.
float f32_of_small(Type type, uint8_t code);
uint8_t small_of_f32(Type type, float value, bool saturate = true);
// The largest finite value.
float largest_small(Type type);

}  // namespace saltern
