#pragma once
// Normalisation: every element is changed by what a reduction over its channel or over its row gave.
//
//   over_rows:      f(c) reduces v(c, p) over a long p; vectors along c, p in chunks of fixed length that are reduced in
//                   parallel and then added in order. The chunks depend on nothing, so neither do the bits.
//   each_channel:   out(c, p) elementwise, with factors of c alone.
//   along_row:      f(n) reduces v(c, n) over the innermost dimension, a vector of partial results at a time.
//   each_row:       out(c, n) elementwise after along_row.

#include "schedules/patterns/channels.h"

namespace saltern::schedules {

struct NormalisationKnobs {
  int chunk = 128;  // rows p that one partial result is of
  int rows = 8;     // rows n that one task normalises
};

// f(c), possibly of several values, with one update over p; there are `channels` of them.
inline void over_rows(Halide::Func f, const Halide::Expr &channels, const Machine &m,
                      const NormalisationKnobs &knobs = {}) {
  const Halide::RVar p = f.rvars(0)[0];
  Halide::RVar chunk("chunk"), within("within");
  Halide::Var part("part"), blocks("blocks");
  f.compute_root();
  f.update().split(p, chunk, within, knobs.chunk, Halide::TailStrategy::GuardWithIf);
  Halide::Func partial = f.update().rfactor(chunk, part), stored = partial.in();
  stored.compute_root().parallel(part);
  in_channel_blocks(stored, stored.args()[0], blocks, channels, m);
  at_channel_block(partial, stored, blocks, channels, m);
  f.update().reorder(f.args()[0], chunk);
}

// out(c, p), and functions of c alone that it reads.
inline void each_channel(Halide::Func out, const std::vector<Halide::Func> &factors, const Machine &m,
                         const NormalisationKnobs &knobs = {}) {
  Halide::Var chunk("chunk"), blocks("blocks");
  const Halide::Var p = out.args()[1];
  for (Halide::Func f : factors) f.compute_root();
  out.split(p, chunk, p, knobs.chunk, Halide::TailStrategy::GuardWithIf).parallel(chunk);
  in_channel_blocks(out, out.args()[0], blocks, out.output_buffer().dim(0).extent(), m);
}

constexpr int long_row = 512;

// f(n) with one update over the row, where `consumer` at loop n needs it.
inline void along_row(Halide::Func f, Halide::Func consumer, const Halide::Var &at, const Machine &m) {
  const int lanes = m.float_lanes();
  const Halide::RVar r = f.rvars(0)[0];
  // In a row that is known to be long, some vectors of partial results, so that none waits for the one before it. To
  // join them takes longer than a short row does.
  const auto extent = Halide::Internal::as_const_int(f.update().get_schedule().rvars()[0].extent);
  const int vectors = extent && *extent >= long_row ? 4 : 1;
  Halide::RVar step("step"), lane("lane");
  Halide::Var part("part"), vector("vector");
  f.compute_at(consumer, at);
  f.update().split(r, step, lane, lanes * vectors, Halide::TailStrategy::GuardWithIf);
  Halide::Func partial = f.update().rfactor(lane, part);
  partial.compute_at(consumer, at);
  if (vectors == 1) {
    partial.vectorize(part).update().reorder(part, step).vectorize(part);
  } else {
    partial.split(part, vector, part, lanes).vectorize(part).unroll(vector);
    partial.update().split(part, vector, part, lanes).reorder(part, vector, step).vectorize(part).unroll(vector);
  }
  // Joined by halves: one after the other, each would wait for the one before it. A row of few vectors would have to ask
  // of too many lanes whether they are there.
  const bool by_halves = extent && *extent >= 4 * lanes;
  for (int width = lanes * vectors; by_halves && width > 2; width /= 2) {
    Halide::RVar half("half"), rest("rest");
    Halide::Var place("place");
    f.update().split(lane, half, rest, width / 2);
    Halide::Func joined = f.update().rfactor(rest, place);
    joined.compute_at(consumer, at).vectorize(place).update().vectorize(place).unroll(half);
    lane = rest;
  }
  f.update().unroll(lane);
}

// Splits the rows of out(c, n), or of out(n), in tasks; returns the loop over the rows of a task and over the tasks.
struct RowLoops {
  Halide::Var row, task;
};

inline RowLoops each_row(Halide::Func out, const Machine &m, const NormalisationKnobs &knobs = {}) {
  using Halide::TailStrategy;
  const Halide::Var n = out.args().back(), task("task");
  out.split(n, task, n, knobs.rows, TailStrategy::GuardWithIf).parallel(task);
  if (out.args().size() > 1) out.vectorize(out.args()[0], m.float_lanes(), TailStrategy::GuardWithIf);
  return {n, task};
}

// The stages of a softmax before out: the powers of a row are kept where they are needed twice.
inline void softmax(Halide::Func out, Halide::Func largest, Halide::Func power, Halide::Func total, bool keep_powers,
                    const Machine &m) {
  const RowLoops loops = each_row(out, m);
  along_row(largest, out, loops.row, m);
  along_row(total, out, loops.row, m);
  if (keep_powers)
    power.compute_at(out, loops.row)
        .store_at(out, loops.task)
        .vectorize(power.args()[0], m.float_lanes(), Halide::TailStrategy::GuardWithIf);
}

}  // namespace saltern::schedules
