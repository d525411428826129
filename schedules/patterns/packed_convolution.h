#pragma once
// Convolution with known extents whose weights were packed beforehand:
//   y(co, block, x, y, n) reduces w(ci, kx, ky, co, block), stored co innermost, times the image over ci, kx and ky.
//
// A register tile of tile_blocks panels x tile_width pixels of a row stays in registers across the whole reduction.
// Strips of rows run in parallel, or groups of panels of them; each first copies its part of the image with the zeros
// around it, if there are any. Where all pixels are one row, as those of pointwise convolutions and the rows of dense
// layers are, stretches of it run in parallel, or groups of panels where pixels are few.

#include <algorithm>
#include <vector>

#include "schedules/balance.h"
#include "schedules/machine.h"

namespace saltern::schedules {

struct PackedConvolutionShape {
  int panel, blocks, width, height;  // of the result
  double flops, weight_bytes;
  int padded_row_bytes;  // of one row of the image with the zeros around it; 0 where there are none
  int stride, window;    // rows of the image from one row of the result to the next, and those that one row needs
  int taps;              // of the window along a row
};

// A strip's copy of the image lives on the stack, which a program's threads may have little of.
constexpr int most_stack_bytes = 256 * 1024;

inline int padded_bytes(const PackedConvolutionShape &s, int strip) {
  return ((strip - 1) * s.stride + s.window) * s.padded_row_bytes;
}

inline bool strip_is_on_heap(const PackedConvolutionShape &s) { return padded_bytes(s, 1) > most_stack_bytes; }

struct PackedConvolutionKnobs {
  int tile_blocks;  // panels in the register tile; divides the number of panels
  int tile_width;   // pixels in the register tile
  int strip;        // rows that one task computes,
  int stretch;      // or tiles of pixels where there is one row only,
  int group;        // and tiles of panels

  // The tile that wastes least of a row while its accumulators, one row of loads and one broadcast fit the registers.
  static PackedConvolutionKnobs fitting(const Machine &m, const PackedConvolutionShape &s) {
    const int vectors = std::max(1, s.panel / m.float_lanes());
    const int accumulators = m.vector_registers >= 32 ? 28 : 12;
    PackedConvolutionKnobs best = {1, 1, s.height, 1, 1};
    double best_cost = 1e30;
    for (int blocks_in_tile = 1; blocks_in_tile <= 4; ++blocks_in_tile)
      for (int rows = 1; rows <= std::min(s.width, 28); ++rows) {
        const int columns = blocks_in_tile * vectors;
        if (s.blocks % blocks_in_tile != 0 || columns * rows > accumulators) continue;
        // Two multiply-adds or two loads a cycle; fewer than eight accumulators wait for their own results.
        const double cycles = std::max({columns * rows / 2.0, (columns + rows) / 2.0, 4.0});
        const double tiles = static_cast<double>(s.blocks / blocks_in_tile) * ((s.width + rows - 1) / rows);
        const double cost = cycles * tiles + 0.05 * (columns + rows) * tiles;
        if (cost < best_cost) {
          best_cost = cost;
          best = {blocks_in_tile, rows, s.height, 1, 1};
        }
      }
    const int tasks =
        static_cast<int>(std::clamp(estimated_microseconds(s.flops, s.weight_bytes) / task_microseconds, 1.0, 8.0));
    best.strip = (s.height + tasks - 1) / tasks;
    while (best.strip > 1 && padded_bytes(s, best.strip) > most_stack_bytes) --best.strip;
    best.stretch = (s.width + best.tile_width - 1) / best.tile_width;
    best.group = s.blocks / best.tile_blocks;
    if (tasks > 1) s.height > 1 ? balance_strips(best, s) : balance_row(best, s, tasks);
    return best;
  }

 private:
  // Shorter strips, or panels in groups, where that shares the work out more evenly. Each task costs a little more, as
  // it copies its strip.
  static void balance_strips(PackedConvolutionKnobs &knobs, const PackedConvolutionShape &s) {
    const int longest = knobs.strip, deep = knobs.group;
    double best_cost = 1e30;
    for (int strip = longest; strip >= std::max(1, longest / 4); --strip)
      for (int groups = 1; groups <= std::min(deep, 4); groups *= 2) {
        const int strips = (s.height + strip - 1) / strip, group = (deep + groups - 1) / groups,
                  tasks = strips * groups;
        const double done_twice = static_cast<double>(strips * strip) / s.height * (group * groups) / deep;
        const double cost = unevenness(tasks) * done_twice + 0.005 * tasks;
        if (cost >= best_cost) continue;
        best_cost = cost;
        knobs.strip = strip;
        knobs.group = group;
      }
  }

  // About so many tasks: parts of many pixels, or of many panels, or both where that shares out the work more evenly.
  static void balance_row(PackedConvolutionKnobs &knobs, const PackedConvolutionShape &s, int tasks) {
    const int across = knobs.stretch, deep = knobs.group;
    const bool many_pixels = across >= 2 * tasks;
    double best_cost = 1e30;
    for (int stretches = 1; stretches <= (s.padded_row_bytes > 0 ? 1 : std::min(across, 2 * tasks)); ++stretches)
      for (int groups = 1; groups <= std::min(deep, 2 * tasks / stretches); ++groups) {
        const int stretch = (across + stretches - 1) / stretches, group = (deep + groups - 1) / groups;
        const double longer = static_cast<double>(stretch * stretches) / across * (group * groups) / deep;
        const int number = stretches * groups, few = std::max(0, tasks - number);
        const double cost = unevenness(number) * longer + 0.02 * few + 0.01 * (many_pixels ? groups : stretches);
        if (cost >= best_cost) continue;
        best_cost = cost;
        knobs.stretch = stretch;
        knobs.group = group;
      }
  }
};

struct PackedConvolution {
  Halide::Func out;  // y or a pure function of it, over (co, block, x, y, n), or (c, x, y, n) with c = co + panel block
  Halide::Func y;    // the accumulator
  Halide::Func padded;  // the image with zeros around, over (c, x, y, n); undefined where there are none
  int channels_in;
  bool by_dots = false;  // the innermost steps of the reduction are those of one instruction
};

// The loops of a result cut into register tiles, innermost first, for a schedule to order and place.
struct PackedTiles {
  Halide::Var lane, block, pixel, tile_x, tile_block;
};

// Each tile of y is summed over the whole reduction at `tile_x`. `past_channels` says what happens where channels do
// not fill the last panel.
inline PackedTiles register_tiles(PackedConvolution p, const PackedConvolutionShape &shape, const Machine &m,
                                  const PackedConvolutionKnobs &knobs,
                                  Halide::TailStrategy past_channels = Halide::TailStrategy::GuardWithIf) {
  using Halide::TailStrategy;
  using Halide::Var;
  const int lanes = std::min(shape.panel, m.float_lanes());
  Var co("co_in"), block("block"), tile_block("tile_block"), px("px"), tile_x("tile_x");
  const std::vector<Var> o = p.out.args();
  const bool whole_panels = o.size() == 5;
  if (whole_panels)
    p.out.split(o[1], tile_block, block, knobs.tile_blocks, TailStrategy::RoundUp);
  else
    p.out.split(o[0], block, co, shape.panel, past_channels)
        .split(block, tile_block, block, knobs.tile_blocks, TailStrategy::RoundUp);
  const Var lane = whole_panels ? o[0] : co;
  p.out.split(o[o.size() - 3], tile_x, px, knobs.tile_width, TailStrategy::ShiftInwards);
  p.out.vectorize(lane, lanes).unroll(lane).unroll(block).unroll(px);

  const std::vector<Var> a = p.y.args();
  p.y.compute_at(p.out, tile_x).bound_extent(a[0], shape.panel).bound_extent(a[1], knobs.tile_blocks);
  p.y.bound_extent(a[2], knobs.tile_width);
  p.y.vectorize(a[0], lanes).unroll(a[0]).unroll(a[1]).unroll(a[2]);
  const PackedTiles tiles = {lane, block, px, tile_x, tile_block};
  if (!p.y.has_update_definition()) return tiles;  // one product
  // Steps over channels, along a row and over rows, as far as there are several.
  const std::vector<Halide::RVar> r = p.y.rvars(0);
  std::vector<Halide::VarOrRVar> order = {a[0], a[1], a[2]};
  if (p.by_dots) order.insert(order.begin(), r[0]);
  order.insert(order.end(), r.begin() + (p.by_dots ? 1 : 0), r.end());
  order.insert(order.end(), {a[3], a[4]});
  if (p.by_dots) p.y.update().atomic().vectorize(r[0]);
  p.y.update().reorder(order).vectorize(a[0], lanes).unroll(a[0]).unroll(a[1]).unroll(a[2]);
  // Where sums over channels are short, those along a row go on without a loop; a long window would be long code.
  constexpr int most_unrolled = 16;
  if (p.channels_in >= 4) return tiles;
  size_t step = 0;
  if (p.channels_in > 1) p.y.update().unroll(r[step++]);
  if (shape.taps > 1 && shape.taps <= most_unrolled) p.y.update().unroll(r[step]);
  return tiles;
}

// The copy of the image with the zeros around it, made where `at` says.
inline void padded_copy(PackedConvolution p, const Halide::LoopLevel &at, const Machine &m) {
  const std::vector<Halide::Var> q = p.padded.args();
  const int lanes = m.lanes(p.padded.type());
  const Halide::Var along = p.channels_in < lanes ? q[1] : q[0];
  p.padded.compute_at(at).vectorize(along, lanes, Halide::TailStrategy::GuardWithIf);
}

inline void packed_convolution(PackedConvolution p, const PackedConvolutionShape &shape, const Machine &m,
                               const PackedConvolutionKnobs &knobs) {
  using Halide::TailStrategy;
  using Halide::Var;
  Halide::Func out = p.out;
  const std::vector<Var> o = out.args();
  const Var y = o[o.size() - 2], n = o[o.size() - 1];
  Var row("row"), strip("strip"), stretch("stretch"), group("group"), task("task");
  auto [lane, block, px, tile_x, tile_block] = register_tiles(p, shape, m, knobs);
  out.split(y, strip, row, knobs.strip, TailStrategy::ShiftInwards)
      .split(tile_block, group, tile_block, knobs.group, TailStrategy::GuardWithIf);
  if (shape.height == 1 && !p.padded.defined())
    out.split(tile_x, stretch, tile_x, knobs.stretch, TailStrategy::GuardWithIf)
        .reorder({lane, block, px, tile_x, row, tile_block, group, stretch, strip, n})
        .fuse(group, stretch, task);
  else
    out.reorder({lane, block, px, tile_x, row, tile_block, group, strip, n}).fuse(group, strip, task);
  out.parallel(task);
  if (!p.padded.defined()) return;
  padded_copy(p, {out, task}, m);
  if (!strip_is_on_heap(shape)) p.padded.store_in(Halide::MemoryType::Stack);
}

}  // namespace saltern::schedules
