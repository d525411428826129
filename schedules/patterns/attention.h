#pragma once
// Attention (algorithms/attention.h) with known extents: a block of rows at a time goes through both products and the
// softmax between them, so that its scores stay in the nearest caches and are never there as a whole. Keys, columns
// innermost, and values are packed once for each head; heads, and blocks where heads are few, run in parallel. Weights
// are not divided by their total, of which each row of the result has its share at the end (dsl/sums.h).
//
// Both products have register tiles as in contraction.h, of the same number of rows. What does not divide is shifted
// inwards: nothing is guarded, and nothing outside is read.

#include <algorithm>

#include "schedules/loops.h"
#include "schedules/patterns/contraction.h"

namespace saltern::schedules {

struct AttentionShape {
  int rows, size, keys, columns;
};

// Lanes of a vector that is no longer than the row.
inline int widest_vector(const Machine &m, int row) {
  int lanes = m.float_lanes();
  while (lanes > row) lanes /= 2;
  return lanes;
}

struct AttentionKnobs {
  int lanes;        // of vectors along keys and along columns,
  int key_vectors;  // and how many of them the register tiles have
  int column_lanes, column_vectors;
  int tile_rows;  // rows in a register tile
  int block;      // rows in a block

  // The tiles that compute least twice.
  static AttentionKnobs fitting(const Machine &m, const AttentionShape &s) {
    const int accumulators = m.vector_registers >= 32 ? 24 : 12, most_vectors = m.vector_registers >= 32 ? 4 : 2;
    // Vectors of a tile so that a row has the fewest of them; of those the widest tile.
    const auto vectors = [&](int extent, int lanes) {
      int best = 1;
      double least = 1e30;
      for (int v = 1; v <= most_vectors && v * lanes <= extent; ++v) {
        const int tiles = (extent + v * lanes - 1) / (v * lanes);
        const double cost = tiles * (v + 0.4);  // each tile loads its rows again
        if (cost < least) least = cost, best = v;
      }
      return best;
    };
    AttentionKnobs k = {widest_vector(m, s.keys), 1, widest_vector(m, s.columns), 1, 1, s.rows};
    k.key_vectors = vectors(s.keys, k.lanes);
    k.column_vectors = vectors(s.columns, k.column_lanes);
    const int most_rows = std::min({s.rows, accumulators / std::max(k.key_vectors, k.column_vectors), 12});
    const int most_block = std::clamp(16384 / s.keys, most_rows, 64);  // 64 KB of scores
    double least = 1e30;
    for (int rows = 1; rows <= most_rows; ++rows)
      for (int tiles = 1; tiles * rows <= std::max(most_block, rows); ++tiles) {
        const int block = std::min(tiles * rows, s.rows), blocks = (s.rows + block - 1) / block;
        const int in_block = (block + rows - 1) / rows;
        // Fewer than eight accumulators wait for their own results; tiles and blocks have some work of their own.
        const double steps = std::max<double>(rows, 8.0 / std::min(k.key_vectors, k.column_vectors));
        const double cost = blocks * (in_block * (steps + 0.2) + 0.3);
        if (cost < least) {
          least = cost;
          k.tile_rows = rows;
          k.block = block;
        }
      }
    return k;
  }
};

struct Attention {
  Halide::Func out;  // over the columns, then rows and batch in any order: the sums times shares
  Halide::Var row;   // which of its variables the rows are
  Halide::Func query, key, value, scores, power, share;
  Reduced product, largest, total, sum;
};

inline void attention(Attention a, const AttentionShape &shape, const Machine &m, const AttentionKnobs &knobs) {
  using Halide::TailStrategy;
  using Halide::Var;
  const int keys = knobs.key_vectors * knobs.lanes, columns = knobs.column_vectors * knobs.column_lanes;
  const Var column("column"), tile_column("tile_column"), row("row"), tile_row("tile_row"), block("block");
  const std::vector<Var> to = a.out.args();
  a.out.split(a.row, block, row, knobs.block, TailStrategy::ShiftInwards)
      .split(row, tile_row, row, knobs.tile_rows, TailStrategy::ShiftInwards)
      .split(to[0], tile_column, column, columns, TailStrategy::ShiftInwards);
  std::vector<Halide::VarOrRVar> order = {column, row, tile_row, tile_column, block};
  std::vector<Var> batch;
  for (size_t d = 1; d < to.size(); ++d)
    if (to[d].name() != a.row.name()) batch.push_back(to[d]);
  order.insert(order.end(), batch.begin(), batch.end());
  a.out.reorder(order).vectorize(column, knobs.column_lanes).unroll(column).unroll(row);
  // Inside a parallel loop another one runs serially.
  a.out.parallel(block);
  Halide::LoopLevel head = Halide::LoopLevel::root();
  if (!batch.empty()) {
    const Var heads = fused(a.out, batch);
    a.out.parallel(heads);
    head = {a.out, heads};
  }

  const std::vector<Var> q = a.query.args(), k = a.key.args(), v = a.value.args();
  const int query_lanes = widest_vector(m, shape.size);
  a.query.compute_at(a.out, block).vectorize(q[0], query_lanes, TailStrategy::ShiftInwards);
  a.key.compute_at(head).vectorize(k[0], knobs.lanes, TailStrategy::ShiftInwards);
  // An odd number of lines from one row of them to the next: rows at a power of two would share a few sets of the cache.
  a.key.align_storage(k[0], 16 * ((shape.keys + 15) / 16 | 1));
  // Keys are turned, a few of their elements at a time: whole lines of what is read are used at once.
  const Var turned("turned");
  const int few = std::min(shape.size, 16);
  a.key.split(k[1], k[1], turned, few, TailStrategy::ShiftInwards).reorder(turned, k[0], k[1]);
  a.value.compute_at(head).vectorize(v[0], knobs.column_lanes, TailStrategy::ShiftInwards);

  const std::vector<Var> s = a.scores.args();
  const Var key("key_in_tile"), tile_key("tile_key"), score_row("score_row"), tile_score("tile_score");
  a.scores.compute_at(a.out, block)
      .bound(s[0], 0, shape.keys)
      .split(s[0], tile_key, key, keys, TailStrategy::ShiftInwards)
      .split(s[1], tile_score, score_row, knobs.tile_rows, TailStrategy::ShiftInwards)
      .reorder(key, score_row, tile_score, tile_key)
      .vectorize(key, knobs.lanes)
      .unroll(key)
      .unroll(score_row);
  const auto tiled = [&](const Reduced &product, const Halide::LoopLevel &at, int lanes, int vectors) {
    if (!product.parts.empty()) return along_row(product, at);  // of a single column
    register_tile(product.func, 1, at, lanes, {vectors, knobs.tile_rows, 1});
  };
  tiled(a.product, {a.scores, tile_score}, knobs.lanes, knobs.key_vectors);

  const std::vector<Var> p = a.power.args();
  a.power.compute_at(a.out, block).bound(p[0], 0, shape.keys);
  a.power.vectorize(p[0], knobs.lanes, TailStrategy::ShiftInwards);
  along_row(a.largest, {a.power, p[1]});
  a.share.compute_at(a.out, block);
  along_row(a.total, {a.share, a.share.args()[1]});
  tiled(a.sum, {a.out, tile_row}, knobs.column_lanes, knobs.column_vectors);
}

}  // namespace saltern::schedules
