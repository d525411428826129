#include "generators/reduction_code.h"

#include <cmath>

#include "dsl/structure.h"
#include "generators/formula_functions.h"
#include "schedules/forms/float_bits.h"

namespace saltern::generators {

using forms::is_no_number;
using forms::strict;
using formula::Function;
using Halide::Expr;
using Halide::Internal::Call;

bool Reduction::finds_a_place() const { return function >= Function::first_greatest; }

bool Reduction::is_first() const { return function == Function::first_greatest || function == Function::first_least; }

bool Reduction::is_least() const {
  return function == Function::least || function == Function::first_least || function == Function::last_least;
}

Partial Reduction::nothing() const {
  const Halide::Type t = compute_type(type);
  if (function == Function::sum) return {Halide::cast(t, 0)};
  if (function == Function::product) return {Halide::cast(t, 1)};
  const Expr worst = t.is_float() ? Halide::Internal::make_const(t, is_least() ? INFINITY : -INFINITY)
                     : is_least() ? t.max()
                                  : t.min();
  return finds_a_place() ? Partial{worst, 0} : Partial{worst};
}

Partial Reduction::of_one(const Expr &v, const Expr &place) const {
  return finds_a_place() ? Partial{v, place} : Partial{v};
}

Partial Reduction::with_next(const Partial &so_far, const Expr &v, const Expr &place) const {
  if (!finds_a_place()) return joined(so_far, {v});
  if (of_numbers) {
    // The better one by an instruction of its own, which a comparison that has another use is not. And Halide sees that
    // a place depends on it: what is read inside of a call alone it overlooks, and stores the best element too early.
    const Expr best = Halide::select(is_beyond(v, so_far[0]), v, so_far[0]);
    return {best, Halide::select(is_beyond(best, so_far[0]), place, so_far[1])};
  }
  const Expr better = is_first() ? is_better(v, so_far[0]) : !is_better(so_far[0], v);
  return {Halide::select(better, v, so_far[0]), Halide::select(better, place, so_far[1])};
}

Partial Reduction::joined(const Partial &a, const Partial &b) const {
  if (function == Function::sum) return {a[0] + b[0]};
  if (function == Function::product) return {a[0] * b[0]};
  if (!finds_a_place()) {
    if (of_numbers) return {Halide::select(is_beyond(b[0], a[0]), b[0], a[0])};
    if (!is_real(type)) return {is_least() ? Halide::min(a[0], b[0]) : Halide::max(a[0], b[0])};
    // The inner choice is one instruction, which takes a where there is no order; what is asked of b does not wait for a.
    return {Halide::select(is_no_number(b[0]), b[0], Halide::select(is_beyond(b[0], a[0]), b[0], a[0]))};
  }
  const Expr nearer = is_first() ? b[1] < a[1] : b[1] > a[1];
  const Expr better = is_better(b[0], a[0]) || (nearer && !is_better(a[0], b[0]));
  return {Halide::select(better, b[0], a[0]), Halide::select(better, b[1], a[1])};
}

Expr Reduction::is_better(const Expr &v, const Expr &than) const {
  return is_real(type) ? forms::comes_first(is_beyond(v, than), v, than) : is_beyond(v, than);
}

Expr Reduction::is_beyond(const Expr &v, const Expr &other) const {
  const Expr &low = is_least() ? v : other, &high = is_least() ? other : v;
  return is_real(type) ? strict(Call::strict_lt, low, high) : low < high;
}

void define_partial(Halide::Func &f, const std::vector<Expr> &at, const Partial &p) {
  if (p.size() == 1)
    f(at) = p[0];
  else
    f(at) = Halide::Tuple(p);
}

Partial partial_at(const Halide::Func &f, const std::vector<Expr> &at) {
  if (f.outputs() == 1) return {f(at)};
  Partial all;
  for (int i = 0; i < f.outputs(); ++i) all.emplace_back(f(at)[i]);
  return all;
}

LaneReduction::LaneReduction(const Reduction &by)
    : by_(by), has_bits_((by.function == Function::greatest || by.function == Function::least) && is_real(by.type)) {}

Partial LaneReduction::nothing() const {
  Partial p = by_.nothing();
  if (has_bits_) p.push_back(Halide::Internal::make_zero(forms::magnitude(p[0]).bits.type()));
  return p;
}

Partial LaneReduction::of_one(const StepElement &e) const {
  return has_bits_ ? Partial{e.value, forms::magnitude(e.value).bits} : by_.of_one(e.value, e.place);
}

Partial LaneReduction::with_next(const Partial &so_far, const StepElement &e) const {
  return has_bits_ ? joined(so_far, of_one(e)) : by_.with_next(so_far, e.value, e.place);
}

Partial LaneReduction::joined(const Partial &a, const Partial &b) const {
  if (!has_bits_) return by_.joined(a, b);
  const bool least = by_.function == Function::least;
  return {least ? Halide::min(a[0], b[0]) : Halide::max(a[0], b[0]), Halide::max(a[1], b[1])};
}

Partial LaneReduction::finished(const Partial &all) const {
  if (!has_bits_) return all;
  const Halide::Type bits = all[1].type();
  const Expr best = Halide::reinterpret(bits, all[0]), infinity = forms::magnitude(all[0]).infinity;
  return {Halide::reinterpret(all[0].type(), Halide::select(all[1] > infinity, all[1], best))};
}

RowSplit row_split(const formula::Stage &s, const Machine &m) {
  constexpr int64_t long_row = 512;  // from here on several vectors of partial results win more than joining them costs
  // A product in parts overflows in one of them where the whole, with a 0 in another, does not.
  if (s.reduction == formula::Function::product || formula::classify(s) != formula::Pattern::row) return {};
  for (const formula::Expression &l : formula::loads_in(s.element)) {
    if (l->arguments.empty()) continue;
    const formula::Expression &innermost = l->arguments.back();
    if (innermost->kind != formula::Expression::Kind::axis || innermost->number < s.rank) continue;
    const formula::Expression &extent = s.extents[static_cast<size_t>(innermost->number)];
    const int lanes = m.lanes(compute_type(s.element.type()));
    const bool is_known = extent->kind == formula::Expression::Kind::constant;
    if (is_known && extent->integer < lanes) return {};
    return {innermost->number - s.rank, lanes, is_known && extent->integer >= long_row ? 4 : 1};
  }
  return {};
}

std::vector<Halide::Func> reduce_by_lanes(
    Halide::Func &f, const Reduction &by, const std::vector<Halide::Var> &arguments, const RowSplit &split,
    const Expr &extent, const Halide::Region &others,
    const std::function<StepElement(const Expr &, const std::vector<Expr> &, const Expr &)> &element) {
  const Halide::Var lane("lane");
  const auto in_lane = [&](const Expr &number) {
    std::vector<Expr> at = {number};
    at.insert(at.end(), arguments.begin(), arguments.end());
    return at;
  };
  const LaneReduction lane_by(by);
  Halide::Func lanes(f.name() + "_lanes");
  define_partial(lanes, in_lane(lane), lane_by.nothing());
  // As many elements at a time as there are lanes; then a vector of them; then those that are left: where their number is
  // not known, with a choice in the place of a mask, so that partial results stay in registers.
  Expr first = 0;
  const int all = split.lanes * split.vectors;
  for (int width : {all, split.lanes, 1}) {
    if (width == all && width == split.lanes && !Halide::Internal::is_const_zero(first)) continue;
    const Expr left = Halide::Internal::simplify(extent - first);
    const bool is_guarded = width == 1 && !Halide::Internal::is_const(left);
    const Expr turns = width == 1 ? Expr(1) : Halide::Internal::simplify(left / width), count = width > 1 ? Expr(width)
                                                                                                : is_guarded
                                                                                                    ? Expr(split.lanes)
                                                                                                    : left;
    if (Halide::Internal::is_const_zero(turns) || Halide::Internal::is_const_zero(count)) continue;
    Halide::Region region = {{0, count}, {0, turns}};
    region.insert(region.end(), others.begin(), others.end());
    const Halide::RDom r(region, "r");
    std::vector<Expr> rest;
    for (int d = 2; d < static_cast<int>(region.size()); ++d) rest.emplace_back(r[d]);
    Expr step = first + r[1] * width + r[0], is_there;
    if (is_guarded) {
      is_there = r[0] < left;
      step = Halide::unsafe_promise_clamped(step, 0, extent - 1);  // nothing else is read
    }
    const StepElement e = element(step, rest, is_there);
    const Partial so_far = partial_at(lanes, in_lane(r[0]));
    // Places go up, but for what was left over.
    Partial next = Halide::Internal::is_const_zero(first) ? lane_by.with_next(so_far, e) : lane_by.with_any(so_far, e);
    if (is_guarded)
      for (size_t i = 0; i < next.size(); ++i) next[i] = Halide::select(is_there, next[i], so_far[i]);
    define_partial(lanes, in_lane(r[0]), next);
    first = Halide::Internal::simplify(first + turns * count);
  }
  std::vector<Halide::Func> parts = {lanes};
  for (int width = all / 2; width > 0; width /= 2) {
    const Halide::Func wide = parts.back();
    if (width == 1) {
      define_partial(f, {arguments.begin(), arguments.end()},
                     lane_by.finished(lane_by.joined(partial_at(wide, in_lane(0)), partial_at(wide, in_lane(1)))));
      break;
    }
    Halide::Func half(f.name() + "_" + std::to_string(width));
    define_partial(half, in_lane(lane),
                   lane_by.joined(partial_at(wide, in_lane(lane)), partial_at(wide, in_lane(lane + width))));
    parts.back().bound(lane, 0, 2 * width);
    parts.push_back(half);
  }
  parts.back().bound(lane, 0, 2);
  return parts;
}

}  // namespace saltern::generators
