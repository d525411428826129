#pragma once
// Depthwise convolution: y(c, x, y, n) sums w(c, kx, ky) x(c, ...) over a small window. Vectors run along channels; a
// strip of pixels of one row shares the loaded weights. A few rows are a task, which first copies what they need of the
// image with the zeros around it: the copy is still in the cache when it is read.

#include "schedules/balance.h"
#include "schedules/knobs.h"
#include "schedules/machine.h"

namespace saltern::schedules {

struct DepthwiseKnobs {
  int channel_vectors;  // vectors of channels in the register tile
  int width;            // pixels of a row in the register tile
  int rows;             // rows in a task

  static std::vector<KnobField<DepthwiseKnobs>> fields() {
    return {{"channel_vectors", &DepthwiseKnobs::channel_vectors, {1, 2, 4}},
            {"width", &DepthwiseKnobs::width, {2, 4, 7, 8, 14}},
            {"rows", &DepthwiseKnobs::rows, {1, 2, 4, 8, 16}}};
  }
  // Where the height of the result is known, rows that share it out evenly.
  static DepthwiseKnobs fitting(const Machine &, const Halide::Expr &height = {}) {
    DepthwiseKnobs best = {1, 7, 4};
    const auto known = height.defined() ? Halide::Internal::as_const_int(height) : std::nullopt;
    const auto cost = [&](int rows) {
      const int tasks = (static_cast<int>(*known) + rows - 1) / rows;
      return unevenness(tasks) * tasks * rows;
    };
    for (int rows = 8; known && rows > 1; --rows)
      if (cost(rows) < cost(best.rows)) best.rows = rows;
    return best;
  }
};

struct Depthwise {
  Halide::Func out;  // a pure function of y at the same point
  Halide::Func y, weights;
  Halide::Func padded;  // the image with the zeros around it
};

// The loops of a result cut into register tiles, innermost first, for a schedule to order and place.
struct DepthwiseTiles {
  Halide::Var c, x, tile_c, tile_x;
};

// Each tile of y is summed over its window at `tile_c`. The strategies say what happens where tiles do not fit.
inline DepthwiseTiles register_tiles(Depthwise d, const Machine &m, const DepthwiseKnobs &knobs,
                                     Halide::TailStrategy past_channels, Halide::TailStrategy past_row) {
  using Halide::Var;
  const std::vector<Var> at = d.y.args(), to = d.out.args();
  const int lanes = m.lanes(d.y.type()), channels = knobs.channel_vectors * lanes;
  const Var c("c"), x("x"), tile_c("tile_c"), tile_x("tile_x");
  d.out.split(to[0], tile_c, c, channels, past_channels)
      .split(to[1], tile_x, x, knobs.width, past_row)
      .vectorize(c, lanes)
      .unroll(c)
      .unroll(x);
  d.y.compute_at(d.out, tile_c).bound_extent(at[0], channels).bound_extent(at[1], knobs.width);
  d.y.vectorize(at[0], lanes).unroll(at[0]).unroll(at[1]);
  if (!d.y.has_update_definition()) return {c, x, tile_c, tile_x};  // one product
  std::vector<Halide::VarOrRVar> order = {at[0], at[1]};
  for (const Halide::RVar &r : d.y.rvars(0)) order.emplace_back(r);
  d.y.update().reorder(order).vectorize(at[0], lanes).unroll(at[0]).unroll(at[1]);
  return {c, x, tile_c, tile_x};
}

inline void depthwise(Depthwise d, const Machine &m, const DepthwiseKnobs &knobs) {
  using Halide::TailStrategy;
  const std::vector<Halide::Var> to = d.out.args();
  const Halide::Var row("row"), rows("rows");
  const auto [c, x, tile_c, tile_x] = register_tiles(d, m, knobs, TailStrategy::GuardWithIf, TailStrategy::GuardWithIf);
  d.out.split(to[2], rows, row, knobs.rows, TailStrategy::GuardWithIf)
      .reorder(c, x, tile_c, tile_x, row, rows, to[3])
      .parallel(rows)
      .parallel(to[3]);
  const int lanes = m.lanes(d.y.type());
  d.weights.compute_root().vectorize(d.weights.args()[0], lanes, TailStrategy::GuardWithIf);
  d.padded.compute_at(d.out, rows).vectorize(d.padded.args()[0], lanes, TailStrategy::GuardWithIf);
}

// dw(c, kx, ky) sums x(c, ...) dy(c, ...) over the pixels of an image, then over images in order.
inline void depthwise_weight_gradient(Halide::Func dw, Halide::Func padded, Halide::Func gradient, const Machine &m,
                                      const DepthwiseKnobs &knobs) {
  using Halide::TailStrategy;
  using Halide::Var;
  const std::vector<Var> a = dw.args();
  const auto r = dw.rvars(0);
  const int lanes = m.lanes(dw.type()), channels = knobs.channel_vectors * lanes;
  const Var image("image"), c("c"), tile_c("tile_c");
  Halide::Func accumulators = dw.update().rfactor(r[2], image);
  Halide::Func part = accumulators.in(dw);
  dw.compute_root().vectorize(a[0], lanes, TailStrategy::GuardWithIf);
  dw.update().reorder({a[0], a[1], a[2], r[2]}).vectorize(a[0], lanes, TailStrategy::GuardWithIf);
  part.compute_at(dw, r[2])
      .split(a[0], tile_c, c, channels, TailStrategy::RoundUp)
      .reorder(c, a[1], a[2], tile_c)
      .vectorize(c, lanes)
      .unroll(c)
      .parallel(tile_c);
  accumulators.compute_at(part, a[1]).bound_extent(a[0], channels).vectorize(a[0], lanes).unroll(a[0]);
  accumulators.update().reorder({a[0], a[1], a[2], r[0], r[1]}).vectorize(a[0], lanes).unroll(a[0]);
  for (Halide::Func operand : {padded, gradient})
    operand.compute_at(dw, r[2]).vectorize(operand.args()[0], lanes, TailStrategy::GuardWithIf);
}

}  // namespace saltern::schedules
