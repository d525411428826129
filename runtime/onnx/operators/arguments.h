#pragma once
// What many operators ask of the node that they lower: checks, and arguments that can be given in two ways.

#include <algorithm>
#include <numeric>
#include <optional>

#include "runtime/onnx/operators/axis.h"
#include "runtime/onnx/operators/lowering.h"

namespace saltern {

inline void expect_same_type(const Operand &a, const Operand &b) {
  if (a.type != b.type) fail("inputs of ", facts(a.type).name, " and ", facts(b.type).name, "; expected one type");
}

// An operand that is absent has any shape.
inline void expect_shape(const Operand &x, const Shape &wanted, const char *what) {
  if (x.present() && x.shape != wanted) fail(what, " is ", to_string(x.shape), "; expected ", to_string(wanted));
}

// A list that old files give as an attribute and new ones as an input; nothing where neither is there.
inline std::optional<std::vector<int64_t>> listed(const Lowering &n, const char *attribute, size_t input,
                                                  const char *what) {
  if (n.attributes().has(attribute)) return n.attributes().integers(attribute);
  if (n.has(input)) return n.known_integers(input, what);
  return std::nullopt;
}

// 0, 1, ..., such as all axes.
inline std::vector<int64_t> numbers_below(size_t count) {
  std::vector<int64_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Axes in [0, rank), each at most once.
inline std::vector<int> axes_in(const std::vector<int64_t> &given, int rank) {
  std::vector<int> axes;
  for (int64_t a : given) {
    axes.push_back(axis_within(a, rank));
    for (size_t i = 0; i + 1 < axes.size(); ++i)
      if (axes[i] == axes.back()) fail("axis ", a, " is given twice");
  }
  return axes;
}

// The dimensions [start, end) of a shape of that rank which a Shape gives.
struct Dimensions {
  int64_t start, end;
};
inline Dimensions dimensions_of(const Attributes &a, size_t count) {
  const auto rank = static_cast<int64_t>(count);
  const auto place = [&](const char *name, int64_t otherwise) {
    const int64_t given = a.integer(name, otherwise);
    return std::clamp<int64_t>(given < 0 ? given + rank : given, 0, rank);
  };
  const int64_t start = place("start", 0);
  return {start, std::max(start, place("end", rank))};
}

// ---- Indices that are data: counted from the end where they are negative, and refused where they miss their tensor.

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

// A constant index.
inline Expression index(int64_t value) { return formula::constant_integer(Type::i64, value); }

}  // namespace saltern
