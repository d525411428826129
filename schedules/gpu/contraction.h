#pragma once
// Contraction (patterns/contraction.h says what that is) on a GPU.
//
//   block    (columns * column_threads) x (rows * row_threads) x depth_threads of y (with staging, depth is 1)
//   thread   columns x rows of y, accumulated in registers
//   shared   0: operands go from memory to registers. Halide's own cuda_mat_mul does the same and reports 688 us
//               where cuBLAS takes 512 us, on an RTX 2060.
//            1: the operand that varies with column is staged in shared memory, `step` values of k at a time
//            2: both operands are. A convolution's stride makes the staged row that much longer.
//
// Staging has to be outside the loop over threads, and so has the loop over steps of k; what must live across it is
// not a thread's own for Halide. So a step is summed in registers, and steps are added up in shared memory: one read
// and one write there for `step` multiply-adds.
//
// Sums have a fixed order: any device and any number of threads gives the same bits for the same knobs.

#include <set>
#include <vector>

#include "schedules/gpu/grid.h"
#include "schedules/knobs.h"
#include "schedules/patterns/contraction.h"

namespace saltern::schedules::gpu {

struct ContractionKnobs {
  int columns, rows;                               // of one thread
  int column_threads, row_threads, depth_threads;  // of one block; depth is the contraction's first inside dimension
  int shared;                                      // how many operands are staged in shared memory
  int step;                                        // values of k staged at a time
  int unroll_k;                                    // without staging: steps of k in one turn of the innermost loop

  static std::vector<KnobField<ContractionKnobs>> fields() {
    using K = ContractionKnobs;
    return {{"columns", &K::columns, {2, 4, 8}},
            {"rows", &K::rows, {2, 4, 7, 8}},
            {"column_threads", &K::column_threads, {8, 16, 32}},
            {"row_threads", &K::row_threads, {1, 2, 4, 8, 16}},
            {"depth_threads", &K::depth_threads, {1, 2, 4}},
            {"shared", &K::shared, {0, 1, 2}},
            {"step", &K::step, {8, 16, 32}},
            {"unroll_k", &K::unroll_k, {1, 2, 4, 8}}};
  }

  static ContractionKnobs fitting() { return {4, 8, 16, 4, 1, 0, 16, 1}; }
  // 2 x 7 pixels of an image row, which divides those of the usual nets, and two rows.
  static ContractionKnobs fitting_convolution() { return {4, 7, 16, 2, 2, 0, 16, 1}; }
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
  const std::vector<Halide::Var> args = y.args();
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

  y.compute_at(c.out, grid.block).store_in(Halide::MemoryType::GPUShared);
  bound_extents(y, axes, &Axis::of_block);
  std::vector<Halide::VarOrRVar> threads, order;
  order = split_threads(y, args, axes, threads);
  order.insert(order.end(), threads.begin(), threads.end());
  y.reorder(order);
  gpu_threads(y, threads);

  Halide::Stage update = y.update();
  threads.clear();
  order = split_threads(update, args, axes, threads);
  order.insert(order.end(), threads.begin(), threads.end());
  order.insert(order.end(), steps.begin(), steps.end());
  update.reorder(order);
  gpu_threads(update, threads);
  accumulate_in_registers(part, Halide::LoopLevel(y, threads.front().var), axes, 1);

  const Halide::LoopLevel at_step(y, step);
  for (Halide::Func operand : operands(part))
    if (operand.name() == c.packed.name() || knobs.shared > 1) stage_in_shared_memory(operand.in(part), at_step, axes);
}

inline void contraction(const Contraction &c, const ContractionKnobs &knobs) {
  std::vector<Axis> axes = {{0, knobs.columns, knobs.column_threads}, {c.row, knobs.rows, knobs.row_threads}};
  if (!c.inside.empty() && knobs.shared == 0) axes.push_back({c.inside.front(), 1, knobs.depth_threads});
  const Grid grid = launch(c.out, axes);
  if (knobs.shared > 0)
    accumulate_in_steps(c, grid, axes, knobs);
  else
    accumulate_in_registers(c.y, Halide::LoopLevel(c.out, grid.thread), axes, knobs.unroll_k);
  if (c.staged) apart(*c.staged);
}

}  // namespace saltern::schedules::gpu
