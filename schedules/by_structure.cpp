#include "schedules/by_structure.h"

#include <algorithm>
#include <map>
#include <set>

#include "dsl/structure.h"
#include "schedules/in_order.h"
#include "schedules/known_sizes.h"
#include "schedules/loops.h"
#include "schedules/patterns/long_contraction.h"
#include "schedules/patterns/turned_map.h"

namespace saltern::schedules {

using formula::Expression;
using formula::Function;
using formula::Pattern;
using formula::Stage;
using Halide::Expr;
using Halide::Func;
using Halide::LoopLevel;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

namespace {

bool is_one(const Expression &e) { return formula::is_number(e, 1); }

class Scheduler {
 public:
  Scheduler(const FormulaToSchedule &all, const Machine &m, const StructureKnobs &knobs,
            const ContractionKnobs &contractions)
      : all_(all), m_(m), knobs_(knobs), contractions_(contractions) {
    formula::Values outputs;
    for (const auto &s : all.output_stages) outputs.emplace_back(s);
    for (const StageToSchedule &s : all.stages) by_stage_[s.stage.get()] = &s;
    for (const auto &s : formula::worth_keeping(outputs)) pending_.insert(s.get());
    epilogues_ = formula::epilogues_of(outputs);
  }

  void run() {
    for (size_t i = all_.outputs.size(); i-- > 0;) {
      const Stage &s = *all_.output_stages[i];
      // What others read, too, is not made inside of this output.
      if (is_shared(s) && !is_made_before(s))
        elementwise(all_.outputs[i], s);
      else
        schedule_output(all_.outputs[i], s);
    }
    // What no output took with it, consumers first: each is an output of its own.
    while (!pending_.empty()) {
      const Stage *last = nullptr;
      for (const StageToSchedule &s : all_.stages)
        if (pending_.count(s.stage.get()) > 0) last = s.stage.get();
      const bool makes_itself = last->is_scatter() || last->is_scan();
      Func whole = makes_itself ? func(*last) : func(*last).in();
      whole.compute_root();
      schedule_output(whole, *last);
    }
  }

 private:
  const StageToSchedule &at(const Stage &s) const { return *by_stage_.at(&s); }
  Func func(const Stage &s) const { return at(s).func; }
  int lanes(const Func &f) const { return m_.lanes(f.types()[0]); }
  Expr columns_of(const Stage &s) const { return all_.size(s.extents[static_cast<size_t>(s.rank) - 1]); }
  // Of an output its buffer's, which Halide does not know to be the stage's.
  Expr columns_of(const Func &copy, const Stage &s) const {
    for (Func out : all_.outputs)
      if (out.name() == copy.name()) return out.output_buffers()[0].dim(0).extent();
    return columns_of(s);
  }

  bool are_made_together(const Stage &a, const Stage &b) const {
    return !a.is_input() && !b.is_input() && func(a).name() == func(b).name();
  }

  // With all that is made in the same walk.
  void done(const Stage &s) {
    for (const StageToSchedule &other : all_.stages)
      if (are_made_together(*other.stage, s)) pending_.erase(other.stage.get());
  }

  // `out` is a copy of stage s.
  void schedule_output(Func out, const Stage &s) {
    if (s.is_input()) return elementwise(out, s);
    if (pending_.count(&s) > 0 && !s.is_map()) {
      const Pattern p = formula::classify(s);
      if (p == Pattern::contraction) return contraction(out, s);
      if (p == Pattern::scatter || p == Pattern::scan) return in_order(out, s);
      if (p == Pattern::column && is_long_column(s)) return column_sums(out, s);
    }
    if (s.is_map()) pending_.erase(&s);
    if (const auto of = epilogues_.find(&s); of != epilogues_.end()) return contraction(out, *of->second);
    const std::vector<const Stage *> chain = chain_of(s);
    for (const Stage *c : chain) done(*c);
    if (chain.empty()) return is_of_columns(s) ? by_columns(out, s) : elementwise(out, s);
    if (s.rank == 0) return whole(chain);
    std::set<int> inner;
    bool rows = true, deeper = false, by_lanes = false;
    for (const Stage *c : chain) {
      deeper |= c->rank > s.rank;
      by_lanes |= !at(*c).parts.empty();
      for (int d = 0; d < s.rank; ++d)
        if (!c->is_map() && is_one(c->extents[static_cast<size_t>(d)])) inner.insert(d);
      rows &= c->is_map() || formula::classify(*c) == Pattern::row;
    }
    // Vectors run along reduced dimensions where these are the innermost ones.
    bool along = !inner.empty();
    for (int d = s.rank - static_cast<int>(inner.size()); d < s.rank; ++d) along &= inner.count(d) > 0;
    if (deeper || along || (inner.empty() && rows && by_lanes))
      row_chain(out, s, chain, inner);
    else
      column_chain(out, s, chain, inner);
  }

  // Kept stages that s can compute row by row: of its shape but for extents of 1 and for dimensions inside of them, and
  // read at its own place only.
  std::vector<const Stage *> chain_of(const Stage &s) const {
    std::vector<const Stage *> chain;
    // An output that others read: what it is made of is not its own.
    if (s.is_map() && is_read(s)) return chain;
    std::set<const Stage *> with = {&s};
    for (auto stage = all_.stages.rbegin(); stage != all_.stages.rend(); ++stage) {
      const Stage &c = *stage->stage;
      if (&c != &s && is_made_with_an_output(c)) continue;
      if (pending_.count(&c) == 0) {
        // What is inlined is read where its readers are.
        if (c.is_map() && &c != &s && is_read(c) && is_read_only_by(c, with, s.rank)) with.insert(&c);
        continue;
      }
      const Pattern p = &c == &s || c.is_map() ? Pattern::map : formula::classify(c);
      if (c.rank < s.rank || p == Pattern::contraction || p == Pattern::scatter || p == Pattern::scan) continue;
      bool fits = &c == &s || is_read_only_by(c, with, s.rank);
      // Sums over long columns of a small result are shared out between threads.
      bool small = &c != &s && p == Pattern::column && is_long_column(c);
      for (size_t d = 0; d < static_cast<size_t>(s.rank); ++d) {
        // What has more dimensions has those of s in front.
        fits &= (c.rank == s.rank && is_one(c.extents[d])) || is_same(c.extents[d], s.extents[d]);
        if (is_one(c.extents[d])) small &= is_one(s.extents[d]);
      }
      if (!fits || small) continue;
      with.insert(&c);
      const auto is_with = [&](const Stage *other) { return are_made_together(*other, c); };
      if (std::none_of(chain.begin(), chain.end(), is_with)) chain.push_back(&c);
    }
    std::reverse(chain.begin(), chain.end());
    return chain;
  }

  bool is_made_with_an_output(const Stage &c) const {
    return std::any_of(all_.output_stages.begin(), all_.output_stages.end(),
                       [&](const auto &o) { return are_made_together(*o, c); });
  }

  // Whether a reduction that is an output is read by others, or made in one walk with another output.
  bool is_shared(const Stage &s) const {
    if (s.is_input() || s.is_map()) return false;
    for (const auto &o : all_.output_stages)
      if (o.get() != &s && are_made_together(*o, s)) return true;
    for (const StageToSchedule &r : all_.stages)
      if (are_made_together(*r.stage, s) && is_read(*r.stage)) return true;
    return false;
  }

  // Whether its schedule is one that computes it whole.
  bool is_made_before(const Stage &s) const {
    const Pattern p = formula::classify(s);
    return p == Pattern::scatter || p == Pattern::scan || (p == Pattern::column && is_long_column(s));
  }

  bool is_read(const Stage &c) const {
    for (const StageToSchedule &r : all_.stages)
      for (const auto &from : formula::loaded_by(*r.stage))
        if (from.get() == &c) return true;
    return false;
  }

  bool is_read_only_by(const Stage &c, const std::set<const Stage *> &readers, int rank) const {
    bool fits = true;
    for (const StageToSchedule &reader : all_.stages) {
      const Stage &r = *reader.stage;
      const auto look = [&](const Expression::Node &n) {
        if (n.kind != Expression::Kind::load || !are_made_together(*n.stage, c)) return;
        fits &= readers.count(&r) > 0;
        for (int d = 0; d < std::min(rank, static_cast<int>(n.arguments.size())); ++d) {
          const Expression &i = n.arguments[static_cast<size_t>(d)];
          const bool every = i->kind == Expression::Kind::axis && i->number >= r.rank &&
                             is_same(r.extents[static_cast<size_t>(i->number)], c.extents[static_cast<size_t>(d)]);
          fits &= every || formula::is_number(i, 0) || is_same(i, formula::axis(d));
        }
      };
      for (const Expression &e : formula::expressions_of(r)) formula::for_each_node(e, look);
      if (!fits) return false;
    }
    return true;
  }

  void elementwise(Func out, const Stage &s) {
    const std::vector<Var> args = out.args();
    // One element is on the stack, aligned to no vector, which a vector's masked store asks for.
    if (std::all_of(s.extents.begin(), s.extents.begin() + s.rank, is_one)) return;
    int64_t elements = 1;
    for (int d = 0; d < s.rank; ++d) elements *= known(s.extents[static_cast<size_t>(d)]);
    if (elements > 0 && elements <= knobs_.chunk) {  // a single task
      // Halide fails on a masked load that goes backwards through all that there is.
      const bool is_row = elements == known(s.extents[static_cast<size_t>(s.rank) - 1]);
      if (!is_row || elements % lanes(out) == 0 || !moves_elements(s))
        out.vectorize(args[0], lanes(out), TailStrategy::GuardWithIf);
      return;
    }
    if (const int dense = turned_along(s, lanes(out)); dense >= 0) return in_turned_blocks(out, s, dense, lanes(out));
    if (has_short_rows(s, m_, lanes(out))) return by_several_rows(out, lanes(out));
    Var chunk("chunk"), element("element");
    if (args.size() == 1) {
      // What is light goes by 4 vectors: to count turns takes as long otherwise, and twice that where the loop lies
      // across lines of the cache. With vectors of 16 bytes, relu takes 0.6 to 0.9 of its time so (AMD Zen 4).
      // Turns first: the last chunk then ends with the last vector, where it would go on through masked nothing.
      const Var turn("turn");
      const bool light = !s.is_map() || formula::is_light(formula::Value(at(s).stage));
      const int width = (light ? 4 : 1) * lanes(out);
      out.split(args[0], turn, element, width, TailStrategy::GuardWithIf)
          .vectorize(element, lanes(out))
          .unroll(element)
          .split(turn, chunk, turn, knobs_.chunk / width, TailStrategy::GuardWithIf)
          .parallel(chunk);
      return;
    }
    // Rows may be short: a chunk is no longer than a row, and a task takes as many rows as make a chunk.
    const Expr extent = Halide::max(1, columns_of(out, s));
    out.split(args[0], chunk, element, Halide::min(knobs_.chunk, extent), TailStrategy::GuardWithIf);
    const Var row = fused_loops(out, 1), rows("rows"), in_task("in_task"), task("task");
    out.split(row, rows, in_task, Halide::max(1, knobs_.chunk / extent), TailStrategy::GuardWithIf)
        .reorder(element, in_task, chunk, rows)
        .fuse(chunk, rows, task)
        .parallel(task)
        .never_partition(task, in_task);
    in_vectors(out, element);
  }

  // Where strides are free, under the conditions that let vectors be loaded and stored as such; else one by one.
  void in_vectors(Func out, const Var &element) {
    if (all_.vectorizable.empty()) out.vectorize(element, lanes(out), TailStrategy::GuardWithIf);
    for (const Expr &condition : all_.vectorizable)
      out.specialize(condition).vectorize(element, lanes(out), TailStrategy::GuardWithIf);
  }

  // A map with factors of the column alone. Rows stay inside of one another: blocks outside of them, factors in
  // registers, took 1.6 times as long at 64 columns.
  void by_columns(Func out, const Stage &s) {
    const Var block("block"), chunk("chunk"), in_chunk("in_chunk"), c = out.args()[0], row = fused_loops(out, 1);
    out.split(row, chunk, in_chunk, knobs_.column_chunk, TailStrategy::GuardWithIf).parallel(chunk);
    in_blocks(out, c, block, columns_of(out, s), lanes(out), knobs_.columns);
  }

  void reduce_at(const Stage &s, const LoopLevel &level) { along_row({func(s), at(s).parts}, level); }

  // Reductions over everything, and what is kept for them.
  void whole(const std::vector<const Stage *> &chain) {
    for (const Stage *c : chain) {
      if (!c->is_map()) {
        reduce_at(*c, LoopLevel::root());
        continue;
      }
      Func f = func(*c);
      f.compute_root();
      if (c->rank > 0) elementwise(f, *c);
    }
  }

  // Shares the loop `all` out to threads: of its `count` turns, which go through so many elements each, as many are a task
  // as make a chunk, or as the knob says where that is not known (0). Of about the same numbers one that divides is best.
  void in_tasks(Func out, const Var &all, const Var &task, const Var &turn, int64_t elements, int64_t count) const {
    const bool is_known = elements > 0 && count > 0;
    const int64_t most = is_known ? std::clamp<int64_t>(knobs_.chunk / elements, 1, count) : knobs_.rows;
    int64_t turns = most;
    while (is_known && count % turns != 0 && 2 * turns > most) --turns;
    if (is_known && count % turns != 0) turns = most;
    out.split(all, task, turn, static_cast<int>(turns), TailStrategy::GuardWithIf);
    if (!is_known || turns < count) out.parallel(task);
  }

  // `inner` dimensions of the output are reduced; they are the innermost ones.
  void row_chain(Func out, const Stage &s, const std::vector<const Stage *> &chain, const std::set<int> &inner) {
    if (out.args().size() == inner.size()) {
      whole(chain);
      return elementwise(out, s);
    }
    const Var task("task"), row("row"), all = fused_loops(out, inner.size());
    int64_t count = 1;
    for (int d = 0; d < s.rank; ++d)
      if (inner.count(d) == 0) count *= known(s.extents[static_cast<size_t>(d)]);
    // Where rows of the output are columns of what is read, these are reduced a vector at a time.
    const auto is_turned = [&](const Stage *c) {
      return out.args().size() == inner.size() + 1 && c->rank == s.rank && !c->is_map() && at(*c).parts.empty() &&
             formula::classify(*c) == Pattern::column;
    };
    const bool any_turned = std::any_of(chain.begin(), chain.end(), is_turned);
    in_tasks(out, all, task, row, elements_at(chain, inner) / (any_turned ? lanes(out) : 1), count);
    const LoopLevel level(out, row);
    if (!inner.empty() && !is_one(s.extents[static_cast<size_t>(s.rank) - 1]))
      out.vectorize(out.args()[0], lanes(out), TailStrategy::GuardWithIf);
    for (const Stage *c : chain) {
      Func f = func(*c);
      if (is_turned(c)) {
        along_column(f, f.args()[inner.size()], {out, task}, lanes(f), false);
        continue;
      }
      if (!c->is_map()) {
        reduce_at(*c, level);
        continue;
      }
      f.compute_at(level);
      if (is_one(c->extents[static_cast<size_t>(c->rank) - 1])) continue;
      f.store_at(out, task);
      // Of short rows whole vectors are stored, for others read them at once and would wait for one with a mask.
      f.specialize(columns_of(*c) <= 2 * lanes(f)).vectorize(f.args()[0], lanes(f), TailStrategy::PredicateLoads);
      f.vectorize(f.args()[0], lanes(f), TailStrategy::GuardWithIf);
    }
  }

  // Columns that are reduced side by side, and as many in a vector: several vectors where they are known to be there.
  struct Block {
    int columns, vector;
    TailStrategy tail;
  };
  Block column_block(const Func &out, const Stage &s) const {
    const int vector = lanes(out), widest = std::clamp(knobs_.columns, vector, 4 * vector);
    const int64_t columns = known(s.extents[static_cast<size_t>(s.rank) - 1]);
    if (columns == 0) return {vector, vector, TailStrategy::GuardWithIf};
    if (columns >= widest) return {widest, vector, TailStrategy::ShiftInwards};
    const int fitting = static_cast<int>(std::min<int64_t>(vector, columns));
    return {fitting, fitting, TailStrategy::ShiftInwards};
  }

  void column_chain(Func out, const Stage &s, const std::vector<const Stage *> &chain, const std::set<int> &inner) {
    const std::vector<Var> args = out.args();
    const Block block = column_block(out, s);
    const auto loop = [&](int d) { return args[static_cast<size_t>(s.rank - 1 - d)]; };
    const Var tile("tile"), in_a_task("in_task"), task("task");
    out.split(args[0], tile, args[0], block.columns, block.tail);
    std::vector<Halide::VarOrRVar> order = {args[0]};
    std::vector<Var> outer = {tile};
    int64_t count = (known(s.extents[static_cast<size_t>(s.rank) - 1]) + block.columns - 1) / block.columns;
    for (int d = s.rank - 2; d >= 0; --d) {
      if (inner.count(d) > 0) {
        order.emplace_back(loop(d));
        continue;
      }
      outer.push_back(loop(d));
      count *= known(s.extents[static_cast<size_t>(d)]);
    }
    order.insert(order.end(), outer.begin(), outer.end());
    out.reorder(order).vectorize(args[0], block.vector).unroll(args[0]);
    in_tasks(out, fused(out, outer), task, in_a_task, elements_at(chain, inner) * block.columns, count);
    out.never_partition(task, in_a_task);
    const LoopLevel level(out, in_a_task);
    for (const Stage *c : chain) {
      Func f = func(*c);
      if (!at(*c).parts.empty()) {
        reduce_at(*c, level);
        continue;
      }
      // Accumulators of several vectors stay in registers where their number is known.
      const bool is_block = block.columns > block.vector && is_read_at_own_column(*c);
      if (is_block) f.bound_extent(f.args()[0], block.columns);
      if (is_one(c->extents[static_cast<size_t>(c->rank) - 1]))
        f.compute_at(level);
      else
        along_column(f, f.args()[0], level, block.vector, is_block);
    }
  }

  bool is_read_at_own_column(const Stage &c) const {
    bool own = true;
    for (const StageToSchedule &reader : all_.stages)
      for (const Expression &l : formula::loads_in(reader.stage->element))
        if (are_made_together(*l->stage, c)) own &= is_same(l->arguments.back(), formula::axis(c.rank - 1));
    return own;
  }

  // Sums of so many rows that several chunks of them are worth memory, as far as is known.
  bool is_long_column(const Stage &s) const {
    if (s.reduction != Function::sum || s.extents.size() != static_cast<size_t>(s.rank) + 1) return false;
    const int64_t steps = known(s.extents.back());
    return steps == 0 || steps >= 4 * int64_t{knobs_.column_chunk};
  }

  // f(c) sums over many rows: chunks of rows in parallel, then in order.
  void column_sums(Func out, const Stage &s) {
    done(s);
    Func f = func(s);
    const Expr columns = columns_of(s);
    const int vector = lanes(f);
    const RVar p = f.rvars(0)[0], chunk("chunk"), within("within");
    const Var part("part"), block("block");
    f.compute_root();
    f.update().split(p, chunk, within, knobs_.column_chunk, TailStrategy::GuardWithIf);
    Func partial = f.update().rfactor(chunk, part), stored = partial.in();
    stored.compute_root().parallel(part);
    const Var c = partial.args()[0];
    in_blocks(stored, stored.args()[0], block, columns, vector, knobs_.columns);
    partial.store_in(Halide::MemoryType::Stack);
    const Block known_block = column_block(f, s);
    if (known_block.columns > vector) {
      partial.bound_extent(c, known_block.columns);
      along_column(partial, c, {stored, block}, vector, true);
    } else {
      partial.compute_at(stored, block);
      partial.update().reorder(c, within).never_partition(within);
      // A block's vectors are unrolled, or LLVM keeps its sums in memory, where each row waits for the one before.
      for (Halide::Stage stage : {Halide::Stage(partial), partial.update()})
        stage.specialize(columns >= vector).vectorize(c, vector, TailStrategy::GuardWithIf).unroll(c);
    }
    f.vectorize(f.args()[0], vector, TailStrategy::GuardWithIf);
    f.update().reorder(f.args()[0], chunk).vectorize(f.args()[0], vector, TailStrategy::GuardWithIf);
    elementwise(out, s);
  }

  // What goes through its steps or along its axis in order, where its result is to be.
  void in_order(Func out, const Stage &s) {
    done(s);
    Func f = func(s);
    if (out.name() != f.name()) {
      f.compute_root();
      elementwise(out, s);
    }
    const InOrder how = {f, columns_of(s), lanes(f), knobs_.block_vectors, knobs_.scan_rows};
    if (s.is_scan()) return scan_in_order(s, how);
    elementwise(f, s);
    scatter_in_order(s, how);
  }

  // `out` is a map of s, or a copy.
  void contraction(Func out, const Stage &s) {
    done(s);
    const ContractionKnobs &knobs = contractions_;
    if (const auto of = long_contraction_of(s, tiled(at(s), func(s)), at(s).by_row)) {
      long_contraction(*of, m_, knobs);
      return elementwise(out, s);
    }
    if (const auto tiles = tiled(at(s), out)) {
      schedules::contraction(*tiles, m_, knobs);
      for (const Expr &condition : all_.vectorizable) out.specialize(condition);
      return;
    }
    // Columns that slide over the operand (p + k) cannot be packed: a tile reads them where they are.
    const int row = s.rank - 1 - formula::contraction_of(s)->row;
    const std::vector<Var> to = out.args();
    const int vector = lanes(out), width = knobs.column_vectors * vector;
    const Var in_column("column"), in_row("row"), tile_column("tile_column"), tile_row("tile_row");
    std::vector<Halide::VarOrRVar> order = {in_column, in_row, tile_row, tile_column};
    for (int d = 1; d < static_cast<int>(to.size()); ++d)
      if (d != row) order.emplace_back(to[static_cast<size_t>(d)]);
    out.split(to[0], tile_column, in_column, width, TailStrategy::GuardWithIf)
        .split(to[static_cast<size_t>(row)], tile_row, in_row, knobs.rows, TailStrategy::GuardWithIf)
        .reorder(order)
        .vectorize(in_column, vector)
        .unroll(in_column)
        .unroll(in_row)
        .parallel(order.back());
    register_tile(func(s), row, {out, tile_row}, vector, knobs);
  }

  const FormulaToSchedule &all_;
  const Machine &m_;
  const StructureKnobs &knobs_;
  const ContractionKnobs &contractions_;
  std::map<const Stage *, const StageToSchedule *> by_stage_;
  std::set<const Stage *> pending_;
  std::map<const Stage *, std::shared_ptr<const Stage>> epilogues_;
};

}  // namespace

std::optional<Contraction> tiled(const StageToSchedule &contraction, const Func &out) {
  const Stage &s = *contraction.stage;
  const formula::Contraction c = *formula::contraction_of(s);
  const auto &index = c.by_column->arguments;
  for (size_t d = 0; d < index.size(); ++d)
    if (is_same(index[d], formula::axis(c.column)))
      return Contraction{out, contraction.func, contraction.by_column, static_cast<int>(index.size() - 1 - d),
                         s.rank - 1 - c.row};
  return {};
}

void by_structure(const FormulaToSchedule &formula, const Machine &m, const StructureKnobs &knobs,
                  const ContractionKnobs &contractions) {
  Scheduler(formula, m, knobs, contractions).run();
}

}  // namespace saltern::schedules
