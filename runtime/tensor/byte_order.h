#pragma once
// Elements in the other order of bytes: files may be big-endian, memory is not.

#include <algorithm>

#include "runtime/tensor/tensor.h"

namespace saltern {

// Of a dense tensor, in place.
inline void reverse_bytes(const Tensor &t) {
  const int width = facts(t.type()).bytes();
  if (width == 1) return;
  auto *at = static_cast<uint8_t *>(t.raw());
  for (int64_t i = 0; i < t.size(); ++i, at += width) std::reverse(at, at + width);
}

}  // namespace saltern
