#pragma once
// Winograd's convolution (schedules/forms/winograd.h) with known extents. Weights were transformed and packed
// beforehand, or are transformed first.
//
// Patches of a strip of tile rows are transformed once. Then, for some panels of output channels at a time, all products
// are summed, a register tile of panels x tiles for one element of the patch after the other, and transformed back while
// they are in the cache: with the bias, what follows it, and no other memory than the result's. Weights are read once a
// strip, each for as many multiplications as the strip has tiles: from some 30 on they come fast enough from anywhere.
//
// Large images are shared out by strips, many small ones by sets of them. Where there are few of either, their patches are
// transformed in parallel first, and panels are shared out then.

#include "schedules/patterns/packed_convolution.h"

namespace saltern::schedules {

struct WinogradShape {
  int panel, blocks, batch;
  int tile, rows, columns;  // of one image: pixels along a side of a tile, and how many tiles there are
  int chunk;                // channels of the image that lie side by side

  int patch() const { return tile + 2; }
};

// How work is cut into tasks: strips of so many tile rows, or sets of so many images, or panels for all images at once.
struct WinogradCut {
  int strip, images;
  bool by_panels;

  int tiles(const WinogradShape &s) const { return strip * s.columns * images; }
  // Strips of all sets: how often weights are read.
  int pieces(const WinogradShape &s) const { return (s.rows + strip - 1) / strip * ((s.batch + images - 1) / images); }
};

// The same for all machines.
inline WinogradCut winograd_cut(const WinogradShape &s) {
  constexpr int fewest_tasks = 4;
  // Few tiles make little of weights, many leave the core's own cache; what is computed past an edge is for nothing; and
  // there may be one thread, or several to keep busy.
  const auto cost = [&](const WinogradCut &cut) {
    const int tiles = cut.tiles(s), pieces = cut.pieces(s);
    const double wasted = static_cast<double>(pieces) * tiles / (s.rows * s.columns * s.batch),
                 uneven = cut.by_panels ? 1.05 : (1 + unevenness(pieces)) / 2;
    return wasted * uneven + 3.0 / tiles + 0.001 * tiles;
  };
  WinogradCut best = s.batch < fewest_tasks ? WinogradCut{s.rows, s.batch, true} : WinogradCut{s.rows, 1, false};
  const auto consider = [&](int strip, int images) {
    const WinogradCut cut = {strip, images, false};
    if (cut.pieces(s) >= fewest_tasks && cost(cut) < cost(best)) best = cut;
  };
  for (int strip = 1; strip <= s.rows; ++strip) consider(strip, 1);
  // A guard behind the last image would hide from Halide which of a set's tiles a pixel needs.
  for (int images = 2; images <= s.batch; ++images)
    if (s.batch % images == 0) consider(s.rows, images);
  return best;
}

struct WinogradKnobs {
  int tile_blocks, tiles;  // panels and tiles in the register tile

  // Panels that are shared out make four tasks if there are enough of them.
  static WinogradKnobs fitting(const Machine &m, const WinogradShape &s, const WinogradCut &cut) {
    PackedConvolutionShape products = {};
    products.panel = s.panel;
    products.blocks = s.blocks;
    products.width = cut.tiles(s);
    products.height = 1;
    if (cut.by_panels && s.blocks >= 4)
      products.blocks /= s.blocks >= 8 && s.blocks % 4 == 0 ? 4 : s.blocks % 2 == 0 ? 2 : 1;
    const PackedConvolutionKnobs tile = PackedConvolutionKnobs::fitting(m, products);
    return {tile.tile_blocks, tile.tile_width};
  }
};

struct Winograd {
  Halide::Func out;               // over (co, block, x, y, n), or (c, x, y, n) with c = co + panel block
  Halide::Func windows, weights;  // undefined where weights were transformed beforehand
  Halide::Func padded, across, patches, products, partly;
};

inline void winograd(Winograd w, const WinogradShape &shape, const WinogradCut &cut, const Machine &m,
                     const WinogradKnobs &knobs) {
  using Halide::TailStrategy;
  using Halide::Var;
  const int lanes = std::min(shape.panel, m.float_lanes()), patch = shape.patch();
  Var lane("lane"), vector("vector"), block("block"), group("group"), xi("xi"), column("column"), yi("yi"), row("row"),
      strip("strip"), image("image"), set("set"), task("task");
  const std::vector<Var> o = w.out.args();
  Var co = o[0];
  const bool whole_panels = o.size() == 5;
  if (whole_panels) {
    w.out.split(o[1], group, block, knobs.tile_blocks, TailStrategy::RoundUp);
  } else {
    co = Var("co");
    w.out.split(o[0], block, co, shape.panel, TailStrategy::GuardWithIf)
        .split(block, group, block, knobs.tile_blocks, TailStrategy::RoundUp);
  }
  w.out.split(co, vector, lane, lanes, TailStrategy::RoundUp)
      .split(o[o.size() - 3], column, xi, shape.tile, TailStrategy::GuardWithIf)
      .split(o[o.size() - 2], row, yi, shape.tile, TailStrategy::GuardWithIf)
      .split(row, strip, row, cut.strip, TailStrategy::GuardWithIf)
      .split(o.back(), set, image, cut.images, TailStrategy::RoundUp)
      .reorder({lane, xi, yi, vector, block, column, row, image, group, strip, set})
      .vectorize(lane)
      .unroll(xi)
      .unroll(yi);
  if (cut.by_panels)
    w.out.fuse(group, strip, task);
  else
    w.out.fuse(strip, set, task);
  w.out.parallel(task);

  const std::vector<Var> b = w.partly.args();
  // Where a guard leaves out channels, Halide does not see that a vector is a part of a panel.
  w.partly.compute_at(w.out, whole_panels ? vector : block).bound_extent(b[0], whole_panels ? lanes : shape.panel);
  w.partly.vectorize(b[0], lanes).unroll(b[2]).unroll(b[3]);
  w.partly.bound(b[2], 0, shape.tile).bound(b[3], 0, patch);

  const int tiles = cut.tiles(shape);
  Halide::Func kept = w.products.in(w.partly);
  const std::vector<Var> k = kept.args();
  Var tile("tile"), tile_group("tile_group");
  kept.compute_at(w.out, cut.by_panels ? task : group)
      .bound_extent(k[0], shape.panel)
      .bound_extent(k[1], knobs.tile_blocks)
      .bound(k[2], 0, patch)
      .bound(k[3], 0, patch)
      .bound_extent(k[4], tiles)
      .split(k[4], tile_group, tile, knobs.tiles, TailStrategy::ShiftInwards)
      .reorder(k[0], k[1], tile, tile_group, k[2], k[3], k[5])
      .vectorize(k[0], lanes)
      .unroll(k[0])
      .unroll(k[1])
      .unroll(tile);
  const std::vector<Var> a = w.products.args();
  const std::vector<Halide::RVar> r = w.products.rvars(0);
  w.products.compute_at(kept, tile_group)
      .bound_extent(a[0], shape.panel)
      .bound_extent(a[1], knobs.tile_blocks)
      .bound_extent(a[4], knobs.tiles)
      .vectorize(a[0], lanes)
      .unroll(a[0])
      .unroll(a[1])
      .unroll(a[4]);
  std::vector<Halide::VarOrRVar> order = {a[0], a[1], a[4]};
  order.insert(order.end(), r.begin(), r.end());
  order.insert(order.end(), {a[2], a[3], a[5]});
  w.products.update().reorder(order).vectorize(a[0], lanes).unroll(a[0]).unroll(a[1]).unroll(a[4]);

  const std::vector<Var> p = w.patches.args(), s = w.across.args(), q = w.padded.args();
  Var chunk_vector("chunk_vector");
  w.patches.bound(p[0], 0, shape.chunk)
      .bound(p[3], 0, patch)
      .bound(p[4], 0, patch)
      .bound_extent(p[1], tiles)
      .split(p[0], chunk_vector, p[0], lanes, TailStrategy::RoundUp)
      .reorder({p[0], p[3], p[4], chunk_vector, p[2], p[1], p[5]})
      .vectorize(p[0])
      .unroll(p[3])
      .unroll(p[4]);
  w.across.compute_at(w.patches, chunk_vector).vectorize(s[0], lanes).unroll(s[2]).unroll(s[3]);
  w.across.bound_extent(s[0], lanes).bound(s[2], 0, patch).bound(s[3], 0, patch);
  w.padded.vectorize(q[0], m.float_lanes(), TailStrategy::GuardWithIf);
  if (w.weights.defined()) {
    const std::vector<Var> u = w.weights.args(), t = w.windows.args();
    Var part("part");
    w.weights.compute_root().bound(u[3], 0, patch).bound(u[4], 0, patch);
    w.weights.split(u[0], part, u[0], lanes, TailStrategy::RoundUp);
    w.weights.reorder({u[0], u[3], u[4], part, u[1], u[2], u[5]}).vectorize(u[0]).unroll(u[3]).unroll(u[4]);
    w.weights.parallel(u[5]);
    w.windows.compute_at(w.weights, part).bound_extent(t[0], lanes).vectorize(t[0], lanes).unroll(t[3]).unroll(t[4]);
  }
  if (cut.by_panels) {
    constexpr int rows_in_task = 8;
    w.patches.compute_at(w.out, set).parallel(p[1], shape.columns, TailStrategy::ShiftInwards);
    w.padded.compute_at(w.out, set).parallel(q[2], rows_in_task, TailStrategy::GuardWithIf);
  } else {
    w.patches.compute_at(w.out, task);
    w.padded.compute_at(w.out, task);
  }
}

}  // namespace saltern::schedules
