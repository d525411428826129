#pragma once
// Axes as ONNX gives them.

#include <cstdint>

#include "runtime/error.h"

namespace saltern {

// In [0, rank); negative numbers count from the end. Throws where it is neither.
inline int axis_within(int64_t given, int64_t rank) {
  if (given < -rank || given >= rank) fail("axis ", given, " of a tensor of rank ", rank);
  return static_cast<int>(given < 0 ? given + rank : given);
}

}  // namespace saltern
