#pragma once
// A piece of a value's memory, in elements: rows of `run` elements that lie side by side, each row `pitch` elements
// behind the one before. Channels of an image whose channels are innermost are such a piece, a row for each pixel.

#include <cstdint>
#include <optional>
#include <vector>

namespace saltern::generators {

struct Piece {
  int64_t offset = 0, count = 0;  // where it begins, and its elements
  int64_t run = 0, pitch = 0;

  static Piece dense(int64_t offset, int64_t count) { return {offset, count, count, count}; }
  bool is_dense() const { return run == count; }
};

// A piece of a piece, as one of what the outer one lies in; nothing where that takes more than rows.
std::optional<Piece> inside(const Piece &outer, const Piece &inner);

// The strides of a buffer of these extents, innermost first, whose elements are the piece's in order; nothing where a
// dimension would go over the end of a row.
std::optional<std::vector<int>> strides_of(const std::vector<int> &extents, const Piece &piece);

}  // namespace saltern::generators
