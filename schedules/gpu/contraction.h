#pragma once
// Contraction (patterns/contraction.h says what that is) on a GPU.
//
//   block    (columns * column_threads) x (rows * row_threads) of y
//   thread   columns x rows of y, accumulated in registers
//   shared   0: operands go from memory to registers. Halide's own cuda_mat_mul does the same and reports 688 us
//               where cuBLAS takes 512 us, on an RTX 2060.
//            1: the operand that varies with column is staged in shared memory, `step` values of k at a time
//            2: both operands are. (A convolution's image is not: where its pixels lie is read from a table.)
//
// Staging has to be outside the loop over threads, and so has the loop over steps of k; what must live across it is
// not a thread's own for Halide. So a step is summed in registers, and steps are added up in shared memory: one read
// and one write there for `step` multiply-adds.
//
// Sums have a fixed order: any device and any number of threads gives the same bits for the same knobs.

#include <algorithm>
#include <set>
#include <vector>

#include "schedules/gpu/grid.h"
#include "schedules/knobs.h"
#include "schedules/patterns/convolution.h"

namespace saltern::schedules::gpu {

struct ContractionKnobs {
  int columns, rows;                // of one thread
  int column_threads, row_threads;  // of one block
  int shared;                       // how many operands are staged in shared memory
  int step;                         // values of k staged at a time
  int unroll_k;                     // without staging: steps of k in one turn of the innermost loop

  static std::vector<KnobField<ContractionKnobs>> fields() {
    using K = ContractionKnobs;
    return {{"columns", &K::columns, {2, 4, 8}},
            {"rows", &K::rows, {2, 4, 7, 8}},
            {"column_threads", &K::column_threads, {8, 16, 32}},
            {"row_threads", &K::row_threads, {1, 2, 4, 8, 16}},
            {"shared", &K::shared, {0, 1, 2}},
            {"step", &K::step, {8, 16, 32}},
            {"unroll_k", &K::unroll_k, {1, 2, 4, 8}}};
  }

  static ContractionKnobs fitting() { return {4, 8, 16, 4, 0, 16, 1}; }
};

// The functions that a sum multiplies, without the sum itself.
inline std::vector<Halide::Func> operands(const Halide::Func &sum) {
  struct Find : Halide::Internal::IRVisitor {
    using Halide::Internal::IRVisitor::visit;
    std::string sum;
    std::set<std::string> seen;
    std::vector<Halide::Func> found;
    void visit(const Halide::Internal::Call *call) override {
      IRVisitor::visit(call);
      if (call->call_type == Halide::Internal::Call::Halide && call->name != sum && seen.insert(call->name).second)
        found.emplace_back(Halide::Internal::Function(call->func));
    }
  } find;
  find.sum = sum.name();
  sum.update_value(0).accept(&find);
  return find.found;
}

// Fills an operand's tile in shared memory with all threads of the block.
inline void stage_in_shared_memory(Halide::Func tile, const Halide::LoopLevel &step, const std::vector<Axis> &axes) {
  const std::vector<Halide::Var> args = tile.args();
  tile.compute_at(step).store_in(Halide::MemoryType::GPUShared);
  std::vector<Halide::VarOrRVar> order, threads;
  std::vector<Halide::Var> rest(args.begin(), args.end());
  for (size_t a = 0; a < axes.size() && a < args.size(); ++a) {
    const Halide::Var turn("turn_" + std::to_string(a)), thread("thread_" + std::to_string(a));
    tile.split(args[a], turn, thread, axes[a].threads, Halide::TailStrategy::GuardWithIf);
    rest[a] = turn;
    threads.emplace_back(thread);
  }
  order.insert(order.end(), rest.begin(), rest.end());
  order.insert(order.end(), threads.begin(), threads.end());
  tile.reorder(order);
  gpu_threads(tile, threads);
}

inline void accumulate_in_steps(const Contraction &c, const Grid &grid, const std::vector<Axis> &axes,
                                const ContractionKnobs &knobs) {
  Halide::Func y = c.y;
  const std::vector<Halide::RVar> k = y.rvars(0);
  const Halide::RVar step("step"), within("within");
  std::vector<std::pair<Halide::RVar, Halide::Var>> kept = {{step, Halide::Var("at_step")}};
  std::vector<Halide::VarOrRVar> steps = {step};
  for (size_t d = 1; d < k.size(); ++d) {
    kept.emplace_back(k[d], Halide::Var("at_" + std::to_string(d)));
    steps.emplace_back(k[d]);
  }
  y.update().split(k[0], step, within, knobs.step, Halide::TailStrategy::GuardWithIf);
  Halide::Func part = y.update().rfactor(kept);

  y.compute_at({c.out, grid.block}).store_in(Halide::MemoryType::GPUShared);
  bound_extents(y, axes, &Axis::of_block);
  Loops threads, order = split_threads(y, loops_of(y), axes, threads);
  order.insert(order.end(), threads.begin(), threads.end());
  y.reorder(order);
  gpu_threads(y, threads);

  Halide::Stage update = y.update();
  threads.clear();
  order = split_threads(update, loops_of(y), axes, threads);
  order.insert(order.end(), threads.begin(), threads.end());
  order.insert(order.end(), steps.begin(), steps.end());
  update.reorder(order);
  gpu_threads(update, threads);
  accumulate_in_registers(part, Halide::LoopLevel(y, threads.front()), axes, 1);

  const Halide::LoopLevel at_step(y, step);
  for (Halide::Func operand : operands(part))
    if (operand.name() == c.packed.name() || knobs.shared > 1) stage_in_shared_memory(operand.in(part), at_step, axes);
}

inline void accumulate(const Contraction &c, const Grid &grid, const std::vector<Axis> &axes,
                       const ContractionKnobs &knobs) {
  if (knobs.shared > 0)
    accumulate_in_steps(c, grid, axes, knobs);
  else
    accumulate_in_registers(c.y, Halide::LoopLevel(c.out, grid.thread), axes, knobs.unroll_k);
}

inline std::vector<Axis> tile(const ContractionKnobs &knobs, int row) {
  return {{0, knobs.columns, knobs.column_threads}, {row, knobs.rows, knobs.row_threads}};
}

inline void contraction(const Contraction &c, const ContractionKnobs &knobs) {
  const std::vector<Axis> axes = tile(knobs, c.row);
  accumulate(c, launch(c.out, axes), axes, knobs);
}

// The image is computed by a kernel of its own, and so are the tables.
inline void convolution(const Convolution &c, ContractionKnobs knobs) {
  Halide::Func out = c.out, image = c.image;
  const std::vector<Halide::Var> to = out.args();
  const std::vector<Halide::RVar> p = out.rvars(0), at = image.rvars(0);
  Loops loops = {to[0], to[1], p[0], to[4]};
  GridLoops blocks = {{{2, 1}, {0}, {3}}};
  if (p.size() > 1) {
    loops.insert(loops.end(), {p[1], p[2]});
    blocks = {{{2, 1}, {0, 4}, {5, 3}}};
  }
  const std::vector<Axis> axes = tile(knobs, 2);
  // Every pixel is written once, so any order of them is as good.
  const Grid grid = launch(out.update().allow_race_conditions(), loops, axes, blocks);
  knobs.shared = std::min(knobs.shared, 1);
  accumulate({out, c.sums, c.packed, c.packed_column, 2}, grid, axes, knobs);
  for (const Halide::Func &table : c.tables) apart(table);
  image.compute_root();
  launch(image.update().allow_race_conditions(), {at[0], at[1], at[2], image.args()[1], image.args()[2]}, {{0, 1, 16}},
         {{{0, 1}, {2}, {3, 4}}});
}

}  // namespace saltern::schedules::gpu
