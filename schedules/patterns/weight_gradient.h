#pragma once
// Weight gradient of a convolution: dw(ci, kx, ky, co, g) sums x(ci, g, ...) dy(co, g, ...) over pixels and images.
//
// A register tile of output channels x input channels stays in registers over one strip of rows of one image; strips
// are small enough for L2 (a whole 56 x 56 image is not: 66 % of peak without strips, 85 % with). Strips are added up
// in order, and a batch in chunks whatever the number of threads, so that any number gives the same bits.

#include <algorithm>
#include <optional>

#include "schedules/knobs.h"
#include "schedules/machine.h"

namespace saltern::schedules {

struct WeightGradient {
  Halide::Func out;  // dw at the same point
  Halide::Func dw;
  Halide::Func padded, gradient;                // x and dy, zero outside
  Halide::Expr images;                          // how many
  Halide::Expr outputs, inputs, columns, rows;  // of dw: channels of a group, and the window
  Halide::Expr height, width;                   // of dy
};

struct WeightGradientKnobs {
  int channel_vectors;  // vectors of output channels in the register tile
  int inputs;           // input channels in the register tile
  int strip;            // image rows that are summed in registers
  int columns, rows;    // of the window, in the register tile
  int chunks;           // of a batch, which are summed by themselves
  int images;           // whose strips are summed in registers together

  static std::vector<KnobField<WeightGradientKnobs>> fields() {
    return {{"channel_vectors", &WeightGradientKnobs::channel_vectors, {1, 2, 3, 4}},
            {"inputs", &WeightGradientKnobs::inputs, {2, 3, 4, 6, 8, 11, 12}},
            {"strip", &WeightGradientKnobs::strip, {4, 7, 8, 14, 28}},
            {"columns", &WeightGradientKnobs::columns, {1, 3, 5}},
            {"rows", &WeightGradientKnobs::rows, {1, 3, 5}},
            {"chunks", &WeightGradientKnobs::chunks, {1, 2, 4}},
            {"images", &WeightGradientKnobs::images, {1, 2, 4, 8}}};
  }

  // Where sizes are known, no lane and no register of the tile is in vain: input channels are shared out evenly, and of few
  // channels the window is a part of the tile (LeNet-5's 6 to 16 channels, 5 x 5: 30 sums instead of 22, of which 6 were
  // asked for).
  static WeightGradientKnobs fitting(const Machine &m, const WeightGradient &of) {
    const bool many = m.vector_registers >= 32;
    WeightGradientKnobs knobs =
        many ? WeightGradientKnobs{2, 11, 14, 1, 1, 4, 1} : WeightGradientKnobs{2, 6, 14, 1, 1, 4, 1};
    const auto known = [](const Halide::Expr &e) {
      const auto number = e.defined() ? Halide::Internal::as_const_int(Halide::Internal::simplify(e)) : std::nullopt;
      return number ? static_cast<int>(*number) : 0;
    };
    const int outputs = known(of.outputs), inputs = known(of.inputs), columns = known(of.columns),
              rows = known(of.rows);
    if (outputs <= 0 || inputs <= 0 || columns <= 0 || rows <= 0) return knobs;
    if (outputs <= m.lanes(of.dw.type())) knobs = {1, 2 * knobs.inputs, 14, 1, 1, 4, 1};
    const int tiles = (inputs + knobs.inputs - 1) / knobs.inputs;
    knobs.inputs = (inputs + tiles - 1) / tiles;
    const int sums = many ? 30 : 12;
    const auto as_many = [&](int extent) {
      int count = std::max(1, std::min(extent, sums / (knobs.channel_vectors * knobs.inputs * knobs.columns)));
      while (extent % count != 0) --count;
      return count;
    };
    knobs.columns = as_many(columns);
    knobs.rows = as_many(rows);
    // Of large weights there are no copies to be added up, and of small images several go into each sum: ResNet-18's last
    // layers have 9 MB of weights, and 2 x 2 pixels of a picture of 64 x 64.
    const int height = known(of.height), width = known(of.width), images = known(of.images);
    if (height <= 0 || width <= 0 || images <= 0) return knobs;
    constexpr int large = 1 << 16, pixels = 14 * 14;
    if (outputs * inputs * columns * rows >= large) knobs.chunks = 1;
    const int of_chunk = (images + knobs.chunks - 1) / knobs.chunks;
    knobs.images = std::max(1, std::min(of_chunk, pixels / (height * width)));
    while (of_chunk % knobs.images != 0) --knobs.images;
    knobs.strip = std::min(knobs.strip, height);
    return knobs;
  }
};

inline void weight_gradient(const WeightGradient &of, const Machine &m, const WeightGradientKnobs &knobs) {
  using Halide::RVar;
  using Halide::TailStrategy;
  using Halide::Var;
  Halide::Func dw = of.dw;
  const std::vector<Var> a = dw.args();
  const Var ci = a[0], kx = a[1], ky = a[2], co = a[3], g = a[4];
  const auto r = dw.rvars(0);
  const int lanes = m.lanes(dw.type()), channels = knobs.channel_vectors * lanes;

  // A batch in a fixed number of chunks, which are parallel: with few images, tiles of one image are.
  const int chunks = knobs.chunks;
  const Var chunk("chunk"), image("image"), strip("strip");
  const RVar chunk_sum("chunk_sum"), of_chunk("of_chunk"), images("images"), together("together"), strips("strips"),
      row("row");
  dw.update()
      .split(r[2], chunk_sum, of_chunk, (of.images + chunks - 1) / chunks, TailStrategy::GuardWithIf)
      .split(of_chunk, images, together, knobs.images, TailStrategy::GuardWithIf);
  Halide::Func part = dw.update().rfactor(chunk_sum, chunk);
  part.update().split(r[1], strips, row, knobs.strip, TailStrategy::GuardWithIf);
  Halide::Func accumulators = part.update().rfactor({{images, image}, {strips, strip}});
  Halide::Func tiles = accumulators.in(part);

  // Sums have output channels innermost, as vectors; the output turns them round once at the end.
  dw.compute_root().reorder_storage(co, ci, kx, ky, g).reorder(co, ci, kx, ky, g);
  dw.vectorize(co, lanes, TailStrategy::GuardWithIf);
  dw.update().reorder({co, ci, kx, ky, g, chunk_sum}).vectorize(co, lanes, TailStrategy::GuardWithIf);
  part.compute_root().reorder_storage(co, ci, kx, ky, g, chunk).reorder(co, ci, kx, ky, g, chunk);
  part.vectorize(co, lanes, TailStrategy::GuardWithIf).parallel(chunk);
  part.update()
      .reorder({co, kx, ky, ci, g, strips, images, chunk})
      .vectorize(co, lanes, TailStrategy::GuardWithIf)
      .parallel(ci)
      .parallel(chunk);

  const Var c("c"), i("i"), u("u"), v("v"), tile_c("tile_c"), tile_i("tile_i"), tile_x("tile_x"), tile_y("tile_y");
  tiles.compute_at(part, strips)
      .reorder_storage(co, ci, kx, ky, g)
      .split(co, tile_c, c, channels, TailStrategy::RoundUp)
      .split(ci, tile_i, i, knobs.inputs, TailStrategy::RoundUp)
      .split(kx, tile_x, u, knobs.columns, TailStrategy::RoundUp)
      .split(ky, tile_y, v, knobs.rows, TailStrategy::RoundUp)
      .reorder(c, i, u, v, tile_x, tile_y, tile_i, tile_c, g)
      .vectorize(c, lanes)
      .unroll(c)
      .unroll(i)
      .unroll(u)
      .unroll(v)
      .parallel(tile_c);
  accumulators.compute_at(tiles, tile_x)
      .reorder_storage(co, ci, kx, ky, g)
      .bound_extent(co, channels)
      .bound_extent(ci, knobs.inputs)
      .bound_extent(kx, knobs.columns)
      .bound_extent(ky, knobs.rows)
      .reorder(co, ci, kx, ky, g)
      .vectorize(co, lanes)
      .unroll(co)
      .unroll(ci)
      .unroll(kx)
      .unroll(ky);
  accumulators.update()
      .reorder({co, ci, kx, ky, g, r[0], row, together})
      .vectorize(co, lanes)
      .unroll(co)
      .unroll(ci)
      .unroll(kx)
      .unroll(ky);

  for (Halide::Func operand : {of.padded, of.gradient})
    operand.compute_at(part, strips)
        .vectorize(operand.args()[0], lanes, TailStrategy::GuardWithIf)
        .parallel(operand.args()[3]);
}

}  // namespace saltern::schedules
