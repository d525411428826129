#include "generators/model/piece.h"

namespace saltern::generators {

std::optional<Piece> inside(const Piece &outer, const Piece &inner) {
  if (outer.is_dense()) return Piece{outer.offset + inner.offset, inner.count, inner.run, inner.pitch};
  const int64_t row = inner.offset / outer.run, in_row = inner.offset % outer.run;
  const int64_t offset = outer.offset + row * outer.pitch + in_row;
  if (inner.is_dense()) {
    if (in_row + inner.count <= outer.run) return Piece::dense(offset, inner.count);
    if (in_row != 0 || inner.count % outer.run != 0) return std::nullopt;
    return Piece{offset, inner.count, outer.run, outer.pitch};
  }
  if (inner.pitch % outer.run != 0 || in_row + inner.run > outer.run) return std::nullopt;
  return Piece{offset, inner.count, inner.run, inner.pitch / outer.run * outer.pitch};
}

std::optional<std::vector<int>> strides_of(const std::vector<int> &extents, const Piece &piece) {
  std::vector<int> strides;
  int64_t before = 1;  // elements of all dimensions inside of this one
  for (int extent : extents) {
    const int64_t upto = before * extent;
    if (before < piece.run && upto > piece.run) return std::nullopt;
    // Of one run nothing lies a pitch further on: dimensions of one element are as in any dense tensor.
    const bool within_run = before < piece.run || piece.is_dense();
    strides.push_back(static_cast<int>(within_run ? before : before / piece.run * piece.pitch));
    before = upto;
  }
  return strides;
}

}  // namespace saltern::generators
