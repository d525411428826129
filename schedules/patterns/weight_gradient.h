#pragma once
// Weight gradient of a convolution: dw(ci, kx, ky, co, g) sums x(ci, g, ...) dy(co, g, ...) over pixels and images.
//
// A register tile of output channels x input channels stays in registers over one strip of rows of one image; strips
// are small enough for L2 (a whole 56 x 56 image is not: 66 % of peak without strips, 85 % with). Strips are added up
// in order, so any number of threads gives the same bits.

#include "schedules/knobs.h"
#include "schedules/machine.h"

namespace saltern::schedules {

struct WeightGradientKnobs {
  int channel_vectors;  // vectors of output channels in the register tile
  int inputs;           // input channels in the register tile
  int strip;            // image rows that are summed in registers

  static std::vector<KnobField<WeightGradientKnobs>> fields() {
    return {{"channel_vectors", &WeightGradientKnobs::channel_vectors, {1, 2, 3, 4}},
            {"inputs", &WeightGradientKnobs::inputs, {2, 3, 4, 6, 8, 11, 12}},
            {"strip", &WeightGradientKnobs::strip, {4, 7, 8, 14, 28}}};
  }

  static WeightGradientKnobs fitting(const Machine &m) {
    return m.vector_registers >= 32 ? WeightGradientKnobs{2, 11, 14} : WeightGradientKnobs{2, 6, 14};
  }
};

struct WeightGradient {
  Halide::Func out;  // dw at the same point
  Halide::Func dw;
  Halide::Func padded, gradient;  // x and dy, zero outside
  Halide::Expr images;            // how many
};

inline void weight_gradient(const WeightGradient &of, const Machine &m, const WeightGradientKnobs &knobs) {
  Halide::Func dw = of.dw;
  using Halide::TailStrategy;
  using Halide::Var;
  const std::vector<Var> a = dw.args();
  const Var ci = a[0], kx = a[1], ky = a[2], co = a[3], g = a[4];
  const auto r = dw.rvars(0);
  const int lanes = m.lanes(dw.type()), channels = knobs.channel_vectors * lanes;

  const Var image("image"), strip("strip");
  const Halide::RVar strips("strips"), row("row");
  dw.update().split(r[1], strips, row, knobs.strip, TailStrategy::GuardWithIf);
  Halide::Func accumulators = dw.update().rfactor({{r[2], image}, {strips, strip}});
  Halide::Func part = accumulators.in(dw);

  // Sums have output channels innermost, as vectors; the output turns them round once at the end.
  dw.compute_root().reorder_storage(co, ci, kx, ky, g).reorder(co, ci, kx, ky, g);
  dw.vectorize(co, lanes, TailStrategy::GuardWithIf);
  dw.update()
      .reorder({co, kx, ky, ci, g, strips, r[2]})
      .vectorize(co, lanes, TailStrategy::GuardWithIf)
      .parallel(ci);

  const Var c("c"), i("i"), tile_c("tile_c"), tile_i("tile_i");
  part.compute_at(dw, strips)
      .reorder_storage(co, ci, kx, ky, g)
      .split(co, tile_c, c, channels, TailStrategy::RoundUp)
      .split(ci, tile_i, i, knobs.inputs, TailStrategy::RoundUp)
      .reorder(c, i, kx, ky, tile_i, tile_c, g)
      .vectorize(c, lanes)
      .unroll(c)
      .unroll(i)
      .parallel(tile_c);
  accumulators.compute_at(part, kx)
      .reorder_storage(co, ci, kx, ky, g)
      .bound_extent(co, channels)
      .bound_extent(ci, knobs.inputs)
      .reorder(co, ci, kx, ky, g)
      .vectorize(co, lanes)
      .unroll(co)
      .unroll(ci);
  accumulators.update().reorder({co, ci, kx, ky, g, r[0], row}).vectorize(co, lanes).unroll(co).unroll(ci);

  for (Halide::Func operand : {of.padded, of.gradient})
    operand.compute_at(dw, strips)
        .vectorize(operand.args()[0], lanes, TailStrategy::GuardWithIf)
        .parallel(operand.args()[3]);
}

}  // namespace saltern::schedules
