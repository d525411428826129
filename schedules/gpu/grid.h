#pragma once
// The mapping of a function onto a GPU: the grid of blocks, the threads of a block, and what one thread computes.
//
// Each tiled dimension is split as  block x (threads x elements):  a thread owns `elements` neighbours along it. The
// elements of a thread are unrolled, so that what is computed at a thread stays in registers. Dimensions that are not
// tiled become blocks. Any extents: stores past the edge are guarded.
//
// The first tiled dimension should be the innermost of the output buffer: its threads are the GPU's x, so neighbouring
// threads touch neighbouring memory.

#include <Halide.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "schedules/knobs.h"
#include "schedules/loops.h"

namespace saltern::schedules::gpu {

struct Axis {
  int dimension;
  int elements;  // of one thread
  int threads;   // of one block
};

// Says how much of f one thread computes, which Halide may not see through guards and fused loops: a tile along the axes,
// one element along the other dimensions.
inline void bound_extents(Halide::Func f, const std::vector<Axis> &axes) {
  std::vector<int> extents(f.dimensions(), 1);
  for (const Axis &a : axes) extents[a.dimension] = a.elements;
  for (int d = 0; d < f.dimensions(); ++d) f.bound_extent(f.args()[d], extents[d]);
}

// Loops of a stage: pure ones, and those of a reduction that writes every element once.
using Loops = std::vector<Halide::VarOrRVar>;

// A new loop of the same kind.
inline Halide::VarOrRVar named_like(const Halide::VarOrRVar &loop, const std::string &name) {
  if (loop.is_rvar) return Halide::RVar(name);
  return Halide::Var(name);
}

// Which loops, by their numbers, make up each dimension of the grid, innermost first; of a tiled loop, its blocks. Two
// loops at most are fused into one dimension: of three, Halide no longer sees that a block has one index each, and
// computes too much. (Of two, it sees but cannot prove that a guarded tile fits, and warns of an assertion that it
// leaves out.)
using GridLoops = std::array<std::vector<int>, 3>;

constexpr int most_loops = 6;  // of one grid

// y and z, which are short (65535 blocks), take the first two axes.
inline GridLoops usual_grid(int loops, const std::vector<Axis> &axes) {
  std::vector<int> order;
  for (const Axis &a : axes) order.push_back(a.dimension);
  for (int d = loops; d-- > 0;)
    if (std::find(order.begin(), order.begin() + axes.size(), d) == order.begin() + axes.size()) order.push_back(d);
  GridLoops grid;
  for (size_t i = 0; i < order.size(); ++i)
    grid.at(std::array<int, most_loops>{1, 2, 0, 0, 1, 2}.at(i)).push_back(order[i]);
  return grid;
}

// Loops of a reduction keep their order, here and in Halide: the grid must name them in it. Returns the innermost loop over
// threads: what is computed there is a thread's own.
inline Halide::VarOrRVar launch(Halide::Stage stage, const Loops &loops, const std::vector<Axis> &axes,
                                const GridLoops &grid) {
  Loops order, threads, blocks = loops;
  for (const Axis &a : axes) {
    const Halide::VarOrRVar loop = loops[a.dimension];
    const auto named = [&](const char *name) { return named_like(loop, name + std::to_string(a.dimension)); };
    const Halide::VarOrRVar block = named("block_"), within = named("within_"), thread = named("thread_"),
                            element = named("of_");
    stage.split(loop, block, within, a.elements * a.threads, Halide::TailStrategy::GuardWithIf)
        .split(within, thread, element, a.elements, Halide::TailStrategy::GuardWithIf)
        .unroll(element);
    blocks[a.dimension] = block;
    order.push_back(element);
    threads.push_back(thread);
  }
  order.insert(order.end(), threads.begin(), threads.end());
  for (const std::vector<int> &along : grid)
    for (int d : along) order.push_back(blocks[d]);
  stage.reorder(order);
  for (const Halide::VarOrRVar &t : threads) stage.gpu_threads(t);
  for (size_t i = 0; i < grid.size(); ++i) {
    if (grid[i].empty()) continue;
    Halide::VarOrRVar block = blocks[grid[i][0]];
    if (grid[i].size() > 1) {
      const Halide::VarOrRVar inner = block, outer = blocks[grid[i][1]];
      block = named_like(inner.is_rvar ? inner : outer, "blocks_" + std::to_string(i));
      stage.fuse(inner, outer, block);
    }
    stage.gpu_blocks(block);
  }
  return threads.front();
}

inline Halide::VarOrRVar launch(Halide::Func out, const std::vector<Axis> &axes) {
  const std::vector<Halide::Var> args = out.args();
  return launch(out, {args.begin(), args.end()}, axes, usual_grid(out.dimensions(), axes));
}

// A thread's own part of a sum: accumulators in registers over the whole of k.
inline void accumulate_in_registers(Halide::Func sum, const Halide::LoopLevel &thread, const std::vector<Axis> &axes,
                                    int unroll_k) {
  const std::vector<Halide::Var> args = sum.args();
  sum.compute_at(thread).store_in(Halide::MemoryType::Register);
  bound_extents(sum, axes);
  std::vector<Halide::VarOrRVar> order;
  for (const Axis &a : axes) {
    sum.unroll(args[a.dimension]);
    order.emplace_back(args[a.dimension]);
  }
  Halide::Stage update = sum.update();
  std::vector<Halide::RVar> k = sum.rvars(0);
  if (unroll_k > 1) {
    const Halide::RVar step("step");
    update.split(k[0], k[0], step, unroll_k, Halide::TailStrategy::GuardWithIf).unroll(step);
    order.emplace_back(step);
  }
  order.insert(order.end(), k.begin(), k.end());
  update.reorder(order);
  for (const Axis &a : axes) update.unroll(args[a.dimension]);
}

struct ElementKnobs {
  int threads = 64;  // of a block

  static std::vector<KnobField<ElementKnobs>> fields() {
    return {{"threads", &ElementKnobs::threads, {32, 64, 128, 256}}};
  }
};

// One thread an element, all dimensions along x; a number is the work of one thread.
inline void elements(Halide::Stage stage, const std::vector<Halide::Var> &loops, const ElementKnobs &knobs) {
  if (loops.empty()) {
    stage.gpu_single_thread();
    return;
  }
  const Halide::Var block("block"), thread("thread");
  stage.gpu_tile(fused(stage, loops), block, thread, knobs.threads, Halide::TailStrategy::GuardWithIf);
}

// One thread an element of `out`. What that is found by step by step (windows, sums), one value for each element, stays in
// the thread's registers.
inline void walk(const Halide::Func &out) {
  std::vector<Axis> axes = {{0, 1, 16}};
  if (out.dimensions() > 1) axes.push_back({1, 1, 8});
  const Halide::LoopLevel thread(out, launch(out, axes));
  for (const auto &[name, function] : Halide::Internal::find_transitive_calls(out.function())) {
    if (!function.has_update_definition()) continue;
    Halide::Func steps(function);
    steps.compute_at(thread).store_in(Halide::MemoryType::Register);
    bound_extents(steps, {});
  }
}

// Computed once, whole, by a kernel of its own: one thread an element, the innermost dimension along x.
inline void apart(Halide::Func f) {
  f.compute_root();
  std::vector<Axis> axes = {{0, 1, 16}};
  if (f.dimensions() > 2) axes.push_back({2, 1, 8});
  launch(f, axes);
}

}  // namespace saltern::schedules::gpu
