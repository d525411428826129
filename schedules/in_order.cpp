#include "schedules/in_order.h"

#include "schedules/loops.h"

namespace saltern::schedules {

using formula::Stage;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

namespace {

Var loop(const Stage &s, const InOrder &how, int dimension) {
  return how.func.args()[static_cast<size_t>(s.rank - 1 - dimension)];
}

// `loops` are those around the steps, the columns' first.
void in_column_blocks(Halide::Stage update, const InOrder &how, std::vector<Var> loops) {
  const Var block("block"), c = loops[0];
  std::vector<Halide::VarOrRVar> order = {c};
  for (const RVar &r : how.func.rvars(0)) order.emplace_back(r);
  order.emplace_back(block);
  const Halide::Expr width = Halide::min(how.block_vectors * how.lanes, Halide::max(1, how.columns));
  update.split(c, block, c, width, TailStrategy::GuardWithIf)
      .reorder(order)
      .vectorize(c, how.lanes, TailStrategy::GuardWithIf);
  loops[0] = block;
  update.parallel(fused(update, loops));
}

}  // namespace

void scatter_in_order(const Stage &s, const InOrder &how) {
  // Along these nothing is scattered.
  std::vector<Var> loops;
  bool columns = false;
  for (int d = s.rank; d-- > 0;) {
    const auto i = static_cast<size_t>(d);
    if (!is_same(s.targets[i], formula::axis(d)) || formula::is_number(s.extents[i], 1)) continue;
    loops.push_back(loop(s, how, d));
    columns |= d == s.rank - 1;
  }
  Halide::Func f = how.func;
  Halide::Stage update = f.update();
  if (loops.empty())
    update.unscheduled();
  else if (columns)
    in_column_blocks(update, how, loops);
  else
    update.parallel(fused(update, loops));
}

void scan_in_order(const Stage &s, const InOrder &how) {
  std::vector<Var> loops;
  for (int d = s.rank; d-- > 0;)
    if (d != s.along) loops.push_back(loop(s, how, d));
  Halide::Func f = how.func;
  Halide::Stage update = f.update();
  if (loops.empty()) return update.unscheduled();
  if (s.along != s.rank - 1) return in_column_blocks(update, how, loops);
  const Var task("task"), row = fused(update, loops);
  update.split(row, task, row, how.rows, TailStrategy::GuardWithIf)
      .reorder(row, f.rvars(0)[0], task)
      .unroll(row)
      .parallel(task);
}

}  // namespace saltern::schedules
