#pragma once
// Casts to the floats of 8 and 4 bits as ONNX describes them, in formulas: what becomes of numbers that are too large,
// and which way powers of two round.

#include "runtime/onnx/operators/lowering.h"

namespace saltern {

enum class Rounding : uint8_t { up, down, nearest };  // of f8e8m0

// x in `type`, which may be any but texts. `saturate` and `rounding` matter for floats of 8 bits only.
Expression cast_to(Type type, const Expression &x, bool saturate, Rounding rounding = Rounding::up);

}  // namespace saltern
