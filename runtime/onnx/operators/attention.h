#pragma once
// The two products of attention, over heads: q (B, Hq, L, E), k (B, Hkv, S, E), v (B, Hkv, S, F). Query head h goes
// with key head h / (Hq / Hkv). All operands are of one type; shapes that do not fit each other throw.

#include "runtime/onnx/operators/lowering.h"

namespace saltern {

// q k^T: (B, Hq, L, S)
Operand head_scores(Lowering &n, const Operand &q, const Operand &k);
// weights (B, Hq, L, S) times v: (B, Hq, L, F)
Operand weighted_values(Lowering &n, const Operand &weights, const Operand &v);

}  // namespace saltern
