#pragma once
// A chain of convolutions, each read by the next only, computed depth first: a strip of rows of the last one at a time,
// with the rows that it needs of those before it, which stay in the cache and never exist whole.
//
// Bands of strips run in parallel. Inside a band, rows that the next strip needs too are kept, so that only rows around
// the cuts between bands are computed twice; where the cuts are does not depend on the number of threads.
//
// A depthwise link reads past the sides of its image in registers: its window is unrolled along the row, and the first
// and the last tile of a row are code of their own. A copy of the image with zeros around it, which depthwise.h makes,
// took longer than the sums: alone, such a link is 1.2 to 2 times as fast (AMD Zen 4; 32 to 960 channels, 112 to 7
// pixels).

#include "schedules/patterns/depthwise.h"
#include "schedules/patterns/packed_convolution.h"

namespace saltern::schedules {

struct ChainKnobs {
  int strip;  // rows of the result that are computed at once; divides
  int band;   // the rows that one task computes
};

// One convolution. `out` is a pure function of the sums y over (c, x, y, n); that of the last link is as
// packed_convolution.h or depthwise.h has it.
struct ChainLink {
  Halide::Func out, y;
  Halide::Func padded;  // packed: the image with zeros around it, undefined where there are none
  bool is_depthwise;
  int channels_in;  // packed: that a sum is over
  PackedConvolutionShape shape;
};

// The loops of a link's tiles, innermost first; `row` runs over rows.
inline std::vector<Halide::VarOrRVar> tiled(const ChainLink &link, bool last, const Halide::Var &row,
                                            const Machine &m) {
  using Halide::TailStrategy;
  Halide::Func out = link.out, y = link.y;
  if (link.is_depthwise) {
    DepthwiseKnobs knobs = DepthwiseKnobs::fitting(m);
    knobs.width = std::min(knobs.width, link.shape.width);
    const auto [c, x, tile_c, tile_x] =
        register_tiles(Depthwise{out, y, {}, {}}, m, knobs, TailStrategy::ShiftInwards, TailStrategy::ShiftInwards);
    if (y.has_update_definition()) y.update().unroll(y.rvars(0)[0]);
    out.always_partition(tile_x).never_partition(row);
    return {c, x, tile_c, tile_x, row};
  }
  // Between links there is room for whole panels: no guard.
  const auto [lane, block, pixel, tile_x, tile_block] = register_tiles(
      PackedConvolution{out, y, link.padded, link.channels_in}, link.shape, m,
      PackedConvolutionKnobs::fitting(m, link.shape), last ? TailStrategy::GuardWithIf : TailStrategy::RoundUp);
  return {lane, block, pixel, tile_x, row, tile_block};
}

// The rows of its image that are kept for a strip: a power of two, by which it is quick to divide.
inline int held_rows(const PackedConvolutionShape &reader, int strip) {
  int rows = 1;
  while (rows < (strip - 1) * reader.stride + reader.window) rows *= 2;
  return rows;
}

// A depthwise link has at least as many channels as a vector has lanes.
inline void chain(const std::vector<ChainLink> &links, const Machine &m, const ChainKnobs &knobs) {
  using Halide::TailStrategy;
  using Halide::Var;
  Halide::Func out = links.back().out;
  const std::vector<Var> o = out.args();
  const Var y = o[o.size() - 2], n = o[o.size() - 1], band("band"), strip("strip"), row("row");
  out.split(y, band, y, knobs.band, TailStrategy::ShiftInwards).split(y, strip, row, knobs.strip);
  for (size_t i = 0; i < links.size(); ++i) {
    const ChainLink &link = links[i];
    const bool last = i + 1 == links.size();
    std::vector<Halide::VarOrRVar> order = tiled(link, last, last ? row : link.out.args()[2], m);
    if (link.padded.defined()) padded_copy({link.out, link.y, link.padded, link.channels_in}, {out, strip}, m);
    if (last) {
      order.insert(order.end(), {strip, band, n});
      out.reorder(order).parallel(band).parallel(n).never_partition(strip, band);
      continue;
    }
    Halide::Func before = link.out;
    before.reorder(order).compute_at(out, strip);
    const PackedConvolutionShape &next = links[i + 1].shape;
    if (next.window > next.stride && knobs.strip < knobs.band)
      before.store_at(out, band).fold_storage(before.args()[2], held_rows(next, knobs.strip));
  }
}

}  // namespace saltern::schedules
