#pragma once
// Indices that are data: counted from the end where they are negative, and refused where they miss their tensor.

#include "runtime/onnx/operators/lowering.h"

namespace saltern {

inline Expression counted_from_end(const Expression &given, int64_t extent) {
  const Expression i = cast(Type::i64, given);
  return select(i < 0, i + extent, i);
}

inline void expect_index(int64_t i, int64_t extent) {
  if (i < -extent || i >= extent) fail("index ", i, " of ", extent, " elements");
}

// Formulas read some element wherever an index leads. Where the indices are there already, wrong ones are an error.
inline void expect_indices(const Operand &indices, int64_t extent) {
  if (!indices.value.defined()) return;
  for (int64_t i : indices.value.integers()) expect_index(i, extent);
}

// Each row (the last dimension) indexes the first dimensions of `shape`.
inline void expect_index_rows(const Operand &indices, const Shape &shape) {
  if (!indices.value.defined()) return;
  const auto depth = static_cast<size_t>(indices.shape.back());
  const std::vector<int64_t> all = indices.value.integers();
  for (size_t i = 0; i < all.size(); ++i) expect_index(all[i], shape[i % depth]);
}

}  // namespace saltern
