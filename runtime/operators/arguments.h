#pragma once
// Checks of what a node is given that many operators share.

#include "runtime/operators/lowering.h"

namespace saltern {

inline void expect_same_type(const Lowering &, const Operand &a, const Operand &b) {
  if (a.type != b.type) fail("inputs of ", facts(a.type).name, " and ", facts(b.type).name, "; expected one type");
}

}  // namespace saltern
