#pragma once
// Floats of 8 and 4 bits from and to f32, as Halide code: runtime/tensor/small_floats.h says what they are.

#include <Halide.h>

#include "dsl/types.h"

namespace saltern::generators {

Halide::Expr f32_of_small_code(Type type, const Halide::Expr &code);
// Too large becomes the largest; without `saturate`, an infinity stays one where the type has it.
Halide::Expr small_code_of_f32(Type type, const Halide::Expr &value, bool saturate);

}  // namespace saltern::generators
