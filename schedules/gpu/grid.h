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

#include <array>
#include <string>
#include <vector>

namespace saltern::schedules::gpu {

struct Axis {
  int dimension;
  int elements;  // of one thread
  int threads;   // of one block

  int of_thread() const { return elements; }
  int of_block() const { return elements * threads; }
};

// Says how much of f one thread or one block computes, which Halide may not see through guards and fused loops: a
// tile along the axes, one element along the other dimensions.
inline void bound_extents(Halide::Func f, const std::vector<Axis> &axes, int (Axis::*extent)() const) {
  std::vector<int> extents(f.dimensions(), 1);
  for (const Axis &a : axes) extents[a.dimension] = (a.*extent)();
  for (int d = 0; d < f.dimensions(); ++d) f.bound_extent(f.args()[d], extents[d]);
}

struct Grid {
  Halide::Var block;   // the innermost loop over blocks: what is computed here is shared by a block
  Halide::Var thread;  // the innermost loop over threads: what is computed here is a thread's own
};

// The elements and threads of a stage that covers exactly one block; returns the variables of the elements.
template <typename Stage>
std::vector<Halide::VarOrRVar> split_threads(Stage &stage, const std::vector<Halide::Var> &args,
                                             const std::vector<Axis> &axes, std::vector<Halide::VarOrRVar> &threads) {
  std::vector<Halide::VarOrRVar> elements;
  for (const Axis &a : axes) {
    const Halide::Var thread("thread_" + std::to_string(a.dimension)), element("of_" + std::to_string(a.dimension));
    stage.split(args[a.dimension], thread, element, a.elements, Halide::TailStrategy::GuardWithIf).unroll(element);
    elements.emplace_back(element);
    threads.emplace_back(thread);
  }
  return elements;
}

template <typename Stage>
void gpu_threads(Stage &stage, const std::vector<Halide::VarOrRVar> &threads) {
  for (const Halide::VarOrRVar &t : threads) stage.gpu_threads(t);
}

inline Grid launch(Halide::Func out, const std::vector<Axis> &axes) {
  using Halide::Var;
  std::vector<Var> args = out.args();
  std::vector<bool> tiled(args.size(), false);
  std::vector<Halide::VarOrRVar> threads;
  std::vector<Var> blocks;
  for (const Axis &a : axes) {
    const Var block("block_" + std::to_string(a.dimension)), within("within_" + std::to_string(a.dimension));
    out.split(args[a.dimension], block, within, a.of_block(), Halide::TailStrategy::GuardWithIf);
    args[a.dimension] = within;
    tiled[a.dimension] = true;
    blocks.push_back(block);
  }
  std::vector<Halide::VarOrRVar> order = split_threads(out, args, axes, threads);
  order.insert(order.end(), threads.begin(), threads.end());
  for (size_t d = args.size(); d-- > 0;)
    if (!tiled[d]) blocks.push_back(args[d]);
  // Three dimensions of the grid. y and z, which are short (65535 blocks), take the first two axes. Two loops at most
  // are fused into one: of three, Halide no longer sees that a block has one index each, and computes too much.
  // (Of two, it sees but cannot prove that a guarded tile fits, and warns of an assertion that it leaves out.)
  std::array<std::vector<Var>, 3> grid;
  for (size_t b = 0; b < blocks.size(); ++b) grid.at(std::array<int, 6>{1, 2, 0, 0, 1, 2}.at(b)).push_back(blocks[b]);
  for (const std::vector<Var> &loops : grid) order.insert(order.end(), loops.begin(), loops.end());
  out.reorder(order);
  gpu_threads(out, threads);
  std::vector<Var> fused;
  for (const std::vector<Var> &loops : grid) {
    if (loops.empty()) continue;
    fused.push_back(loops.front());
    if (loops.size() > 1) {
      fused.back() = Var("blocks_" + std::to_string(fused.size()));
      out.fuse(loops[0], loops[1], fused.back());
    }
    out.gpu_blocks(fused.back());
  }
  return {fused.front(), threads.front().var};
}

// A thread's own part of a sum: accumulators in registers over the whole of k.
inline void accumulate_in_registers(Halide::Func sum, const Halide::LoopLevel &thread, const std::vector<Axis> &axes,
                                    int unroll_k) {
  const std::vector<Halide::Var> args = sum.args();
  sum.compute_at(thread).store_in(Halide::MemoryType::Register);
  bound_extents(sum, axes, &Axis::of_thread);
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

// Computed once, whole, by a kernel of its own: one thread an element, the innermost dimension along x.
inline void apart(Halide::Func f) {
  f.compute_root();
  std::vector<Axis> axes = {{0, 1, 16}};
  if (f.dimensions() > 2) axes.push_back({2, 1, 8});
  launch(f, axes);
}

}  // namespace saltern::schedules::gpu
