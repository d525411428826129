#include "schedules/by_structure.h"

#include <algorithm>
#include <map>
#include <set>

#include "dsl/structure.h"
#include "schedules/contraction.h"
#include "schedules/in_order.h"

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

// All loops of a function as one, those before `first` left out.
Var fused_loops(Func f, size_t first) {
  const std::vector<Var> args = f.args();
  Var all = args.at(first);
  for (size_t d = first + 1; d < args.size(); ++d) {
    const Var fused("rows" + std::to_string(d));
    f.fuse(all, args[d], fused);
    all = fused;
  }
  return all;
}

class Scheduler {
 public:
  Scheduler(const FormulaToSchedule &all, const Machine &m, const StructureKnobs &knobs)
      : all_(all), m_(m), knobs_(knobs) {
    formula::Values outputs;
    for (const auto &s : all.output_stages) outputs.emplace_back(s);
    for (const StageToSchedule &s : all.stages) by_stage_[s.stage.get()] = &s;
    for (const auto &s : formula::worth_keeping(outputs)) pending_.insert(s.get());
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
    const std::vector<const Stage *> chain = chain_of(s);
    for (const Stage *c : chain) done(*c);
    if (chain.empty()) return reads_along_columns(s) > 0 ? by_columns(out, s) : elementwise(out, s);
    if (s.rank == 0) return whole(chain);
    std::set<int> inner;
    bool rows = true, deeper = false;
    for (const Stage *c : chain) {
      deeper |= c->rank > s.rank;
      for (int d = 0; d < s.rank; ++d)
        if (!c->is_map() && is_one(c->extents[static_cast<size_t>(d)])) inner.insert(d);
      rows &= c->is_map() || formula::classify(*c) == Pattern::row;
    }
    // Reduced dimensions must be the innermost ones for vectors along them.
    for (int d = s.rank - static_cast<int>(inner.size()); d < s.rank; ++d) rows &= inner.count(d) > 0;
    if (deeper || (rows && !inner.empty()))
      row_chain(out, s, chain, inner.size());
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
  static bool is_made_before(const Stage &s) {
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
    Var chunk("chunk"), element("element");
    if (args.size() == 1) {
      // Vectors first: the last chunk then ends with the last vector, where it would go on through masked nothing.
      const Var vector("vector");
      out.split(args[0], vector, element, lanes(out), TailStrategy::GuardWithIf)
          .vectorize(element)
          .split(vector, chunk, vector, knobs_.chunk / lanes(out), TailStrategy::GuardWithIf)
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
    out.vectorize(element, lanes(out), TailStrategy::GuardWithIf);
  }

  // Loads that vary with the innermost axis only.
  static int reads_along_columns(const Stage &s) {
    if (s.rank < 2 || !s.is_map()) return 0;
    int count = 0;
    for (const Expression &l : formula::loads_in(s.element))
      count += formula::axes_in(l) == std::set<int>{s.rank - 1} ? 1 : 0;
    return count;
  }

  // Whole blocks of columns, the last one moved inwards, so that nothing is masked; where there are fewer columns than a
  // vector has, they go one by one.
  void in_blocks(Func f, const Var &c, const Var &block, const Expr &columns) {
    const int vector = lanes(f), widest = std::clamp(knobs_.columns, vector, 4 * vector);
    for (const int width : {widest, vector}) {
      f.specialize(columns >= width)
          .split(c, block, c, width, TailStrategy::ShiftInwards)
          .vectorize(c, vector)
          .unroll(c);
      if (widest == vector) break;
    }
    f.split(c, block, c, 1);
  }

  // A map with factors of the column alone. Rows stay inside of one another: blocks outside of them, factors in
  // registers, took 1.6 times as long at 64 columns.
  void by_columns(Func out, const Stage &s) {
    const Var block("block"), chunk("chunk"), in_chunk("in_chunk"), c = out.args()[0], row = fused_loops(out, 1);
    out.split(row, chunk, in_chunk, knobs_.column_chunk, TailStrategy::GuardWithIf).parallel(chunk);
    in_blocks(out, c, block, columns_of(out, s));
  }

  // A reduction whose elements are made at `level`: partial results before what they are joined to.
  void reduce_at(const Stage &s, const LoopLevel &level) {
    Func f = func(s);
    f.compute_at(level);
    for (Func part : at(s).parts) {
      part.compute_at(level).store_in(Halide::MemoryType::Stack).vectorize(part.args()[0]);
      for (int u = 0; u < part.num_update_definitions(); ++u) part.update(u).vectorize(part.rvars(u)[0]);
    }
  }

  // Numbers: reductions over everything.
  void whole(const std::vector<const Stage *> &chain) {
    for (const Stage *c : chain) {
      if (c->is_map())
        func(*c).compute_root();
      else
        reduce_at(*c, LoopLevel::root());
    }
  }

  void row_chain(Func out, const Stage &s, const std::vector<const Stage *> &chain, size_t inner) {
    const bool any = out.args().size() > inner;
    const Var task("task"), row("row");
    if (any) {
      const Var all = fused_loops(out, inner);
      out.split(all, task, row, knobs_.rows, TailStrategy::GuardWithIf).parallel(task);
    }
    const LoopLevel level = any ? LoopLevel(out, row) : LoopLevel::root();
    if (inner > 0 && !is_one(s.extents[static_cast<size_t>(s.rank) - 1]))
      out.vectorize(out.args()[0], lanes(out), TailStrategy::GuardWithIf);
    for (const Stage *c : chain) {
      if (!c->is_map()) {
        reduce_at(*c, level);
        continue;
      }
      Func f = func(*c);
      f.compute_at(level);
      if (is_one(c->extents[static_cast<size_t>(c->rank) - 1])) continue;
      if (any) f.store_at(out, task);
      // Of short rows whole vectors are stored, for others read them at once and would wait for one with a mask.
      f.specialize(columns_of(*c) <= 2 * lanes(f)).vectorize(f.args()[0], lanes(f), TailStrategy::PredicateLoads);
      f.vectorize(f.args()[0], lanes(f), TailStrategy::GuardWithIf);
    }
  }

  void column_chain(Func out, const Stage &s, const std::vector<const Stage *> &chain, const std::set<int> &inner) {
    const std::vector<Var> args = out.args();
    const int vector = lanes(out);
    const auto loop = [&](int d) { return args[static_cast<size_t>(s.rank - 1 - d)]; };
    Var tile("tile"), outermost = tile;
    out.split(args[0], tile, args[0], vector, TailStrategy::GuardWithIf);
    std::vector<Halide::VarOrRVar> order = {args[0]};
    for (int d = s.rank - 2; d >= 0; --d)
      if (inner.count(d) > 0) order.emplace_back(loop(d));
    order.emplace_back(tile);
    for (int d = s.rank - 2; d >= 0; --d)
      if (inner.count(d) == 0) order.emplace_back(outermost = loop(d));
    out.reorder(order).vectorize(args[0], vector, TailStrategy::GuardWithIf).parallel(outermost);
    for (const Stage *c : chain) {
      Func f = func(*c);
      if (!at(*c).parts.empty()) {
        reduce_at(*c, LoopLevel(out, tile));
        continue;
      }
      f.compute_at(out, tile).vectorize(f.args()[0], vector, TailStrategy::GuardWithIf);
      if (c->is_map()) continue;
      std::vector<Halide::VarOrRVar> steps = {f.args()[0]};
      for (const RVar &r : f.rvars(0)) steps.emplace_back(r);
      f.update().reorder(steps).vectorize(f.args()[0], vector, TailStrategy::GuardWithIf);
    }
  }

  static bool is_long_column(const Stage &s) {
    return s.reduction == Function::sum && s.extents.size() == static_cast<size_t>(s.rank) + 1;
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
    in_blocks(stored, stored.args()[0], block, columns);
    partial.compute_at(stored, block).store_in(Halide::MemoryType::Stack);
    partial.specialize(columns >= vector).vectorize(c, vector, TailStrategy::GuardWithIf);
    partial.update().reorder(c, within).never_partition(within);
    partial.update().specialize(columns >= vector).vectorize(c, vector, TailStrategy::GuardWithIf);
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

  void contraction(Func out, const Stage &s) {
    done(s);
    const formula::Contraction c = *formula::contraction_of(s);
    const ContractionKnobs knobs = ContractionKnobs::fitting(m_);
    const int row = s.rank - 1 - c.row;
    const auto &index = c.by_column->arguments;
    int column = -1;
    for (size_t d = 0; d < index.size(); ++d)
      if (is_same(index[d], formula::axis(s.rank - 1))) column = static_cast<int>(index.size() - 1 - d);
    if (column >= 0) return schedules::contraction({out, func(s), at(s).by_column, column, row}, m_, knobs);
    // Columns that slide over the operand (p + k) cannot be packed: a tile reads them where they are.
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
  std::map<const Stage *, const StageToSchedule *> by_stage_;
  std::set<const Stage *> pending_;
};

}  // namespace

// Every stage that is kept is a grid of its own.
void by_structure_on_gpu(const FormulaToSchedule &all, const gpu::ElementKnobs &knobs) {
  formula::Values outputs;
  for (const auto &s : all.output_stages) outputs.emplace_back(s);
  std::set<const Stage *> kept;
  for (const auto &s : formula::worth_keeping(outputs)) kept.insert(s.get());
  const auto launch = [&](Func f, int updates) {
    gpu::elements(f, f.args(), knobs);
    for (int u = 0; u < updates; ++u) gpu::elements(f.update(u), f.args(), knobs);
  };
  std::set<std::string> launched;  // several stages may be made in one walk
  for (const StageToSchedule &s : all.stages) {
    if (kept.count(s.stage.get()) == 0 || !launched.insert(s.func.name()).second) continue;
    Func f = s.func;
    f.compute_root();
    if (!s.stage->is_scan()) launch(f, s.stage->is_scatter() ? 0 : f.num_update_definitions());
  }
  for (const Func &out : all.outputs)
    if (launched.insert(out.name()).second) launch(out, 0);
}

void by_structure(const FormulaToSchedule &formula, const Machine &m, const StructureKnobs &knobs) {
  Scheduler(formula, m, knobs).run();
}

bool has_gpu_pattern(Pattern p) {
  static const std::set<Pattern> known = {Pattern::map,    Pattern::gather, Pattern::row,
                                          Pattern::column, Pattern::window, Pattern::contraction};
  return known.count(p) > 0;
}

}  // namespace saltern::schedules
