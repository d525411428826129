#include "generators/stage_functions.h"

#include <stdexcept>

#include "dsl/index_arithmetic.h"
#include "dsl/index_bounds.h"
#include "dsl/structure.h"
#include "generators/element_code.h"
#include "schedules/forms/float_bits.h"

namespace saltern::generators {

using formula::Expression;
using formula::Function;
using formula::Stage;
using formula::Value;
using Halide::Expr;

namespace {

constexpr int64_t open = 0x7FFFFFFF;  // extents that are known at run time only

std::vector<int64_t> known_extents(const Stage &s) {
  std::vector<int64_t> extents;
  for (const Expression &e : s.extents) extents.push_back(e->kind == Expression::Kind::constant ? e->integer : open);
  return extents;
}

bool minds(const Stage &s) {
  return s.element.defined() && ((s.reduction && finds_the_best(*s.reduction)) || minds_what_is_no_number(s.element));
}

}  // namespace

// The elements of one stage, whose axes and steps are numbered through.
class StageCode : public ElementCode {
 public:
  StageCode(const StageFunctions &all, const Stage &stage)
      : ElementCode(minds(stage), /*narrow=*/!all.tiles_are_inside_),
        all_(all),
        stage_(stage),
        element_(all.zeros_.without_idle_questions(stage.element)),
        bounds_(known_extents(stage)) {
    for (int d = stage.rank; d-- > 0;) arguments_.emplace_back("a" + std::to_string(d));
  }

  const Stage &stage() const { return stage_; }
  Reduction by() const { return {*stage_.reduction, stage_.element.type(), is_of_numbers_}; }
  const std::vector<Halide::Var> &arguments() const { return arguments_; }
  std::vector<Expr> here() const { return {arguments_.begin(), arguments_.end()}; }
  int steps() const { return static_cast<int>(stage_.extents.size()) - stage_.rank; }
  Expr extent(int step) const { return all_.size(stage_.extents[static_cast<size_t>(stage_.rank + step)]); }

  // The best of select(is_nan(e), worst, e) is that of e where no comparison holds for what is no number.
  void pass_over_no_numbers() {
    const Function f = *stage_.reduction;
    if (!finds_the_best(f) || f == Function::last_greatest || f == Function::last_least) return;
    if (element_->kind != Expression::Kind::select) return;
    const Expression asked = element_->arguments[0], worst = element_->arguments[1], then = element_->arguments[2];
    const bool asks = asked->kind == Expression::Kind::call && asked->function == Function::is_nan;
    if (!asks || !is_same(asked->arguments[0], then) || !is_nothing(worst)) return;
    is_of_numbers_ = true;
    element_ = then;
  }

  // Windows leave out steps that add nothing, select(c, v, nothing), as far as c is the same for all columns.
  void leave_out_idle_steps() {
    if (element_->kind != Expression::Kind::select || !is_nothing(element_->arguments[2])) return;
    if (formula::classify(stage_) != formula::Pattern::window) return;
    const Expression asked = element_->arguments[0], then = element_->arguments[1], nothing = element_->arguments[2];
    Expression rest = formula::truth(true);
    counts_ = formula::truth(true);
    for (const Expression &c : all_of(asked)) {
      const bool is_same_for_all = formula::axes_in(c).count(stage_.rank - 1) == 0 && formula::loads_in(c).empty();
      Expression &part = is_same_for_all ? counts_ : rest;
      part = part && c;
    }
    element_ = formula::is_truth(rest, true) ? then : select(rest, then, nothing);
  }
  // Whether a step counts, if not all do.
  const Expression &counts() const { return counts_; }
  // Halide leaves away the clamps of indices that are inside where this holds, and has then to find out by itself that
  // nothing outside is read. It does so for sums of axes and steps; of anything else its simplifier is to see nothing.
  Expr counts(const std::vector<Expr> &at_steps) {
    Scope scope = scope_at(at_steps);
    Expr seen = Halide::Internal::const_true();
    for (const Expression &c : all_of(counts_)) {
      const Expr e = value(c, scope);
      seen = seen && (is_solved(c) ? e : forms::strict_less(0.5F, Halide::cast<float>(e)));
    }
    return seen;
  }

  StepElement element(const std::vector<Expr> &at_steps) {
    Scope scope = scope_at(at_steps);
    Expr place = 0;
    for (int i = 0; i < steps(); ++i) place = place * extent(i) + at_steps[static_cast<size_t>(i)];
    return {value(element_, scope), place};
  }

  // An expression of the result's axes.
  Expr at_axes(const Expression &e) {
    Scope scope = scope_at({});
    return value(e, scope);
  }

  StageFunction map() {
    Halide::Func f(function_name());
    const Expr v = element({}).value;
    // Rounded at its end, as its type is.
    const bool narrow = compute_type(stage_.type) != storage_type(stage_.type);
    f(here()) = narrow ? from_storage(stage_.type, to_storage(stage_.type, v)) : v;
    return {f, {}, {}};
  }

  StageFunction scatter() {
    Halide::Func f(function_name());
    define_partial(f, here(), by().nothing());
    const std::vector<Expr> at = steps_in(domain());
    Scope scope = scope_at(at);
    std::vector<Expr> to;
    Expr is_inside = Halide::Internal::const_true();
    for (size_t d = stage_.targets.size(); d-- > 0;) {
      const Expression &target = stage_.targets[d], &extent = stage_.extents[d];
      to.push_back(inside(target, extent, scope));
      if (formula::always_inside(target, extent, stage_.extents)) continue;
      const Expr place = value(target, scope);  // of all its bits
      is_inside = is_inside && place >= 0 && place < Halide::cast(place.type(), all_.size(extent));
    }
    const Expr v = element(at).value;
    f(to) += Halide::Internal::is_const_one(is_inside) ? v : Halide::select(is_inside, v, Halide::cast(v.type(), 0));
    return {f, {}, {}};
  }

  // Nothing is there before the first element along the axis is; each is then made of the one before.
  StageFunction scan() {
    Halide::Func f(function_name());
    const auto along = static_cast<size_t>(stage_.along);
    const size_t place = arguments_.size() - 1 - along;
    const Halide::RDom r(0, all_.size(stage_.extents[along]), "r");
    std::vector<Expr> to = here(), from = to;
    to[place] = r;
    from[place] = Halide::max(Halide::likely(r - 1), 0);
    Scope scope = scope_at({});
    scope.axes[along] = r;
    const Expr first = value(stage_.before, scope);
    f(here()) = Halide::undef(first.type());
    carried_ = Halide::select(r == 0, first, Halide::likely(f(from)));
    f(to) = value(stage_.element, scope);
    return {f, {}, {}};
  }

  StageFunction by_lanes(const RowSplit &split) {
    Halide::Func f(function_name());
    Halide::Region others;
    for (int i = steps(); i-- > 0;)
      if (i != split.step) others.emplace_back(0, extent(i));
    std::vector<Halide::Func> parts =
        reduce_by_lanes(f, by(), arguments_, split, extent(split.step), others,
                        [&](const Expr &step, const std::vector<Expr> &rest, const Expr &is_there) {
                          is_there_ = is_there;
                          split_axis_ = stage_.rank + split.step;
                          std::vector<Expr> at(static_cast<size_t>(steps()));
                          size_t other = 0;
                          for (int i = steps(); i-- > 0;)
                            at[static_cast<size_t>(i)] = i == split.step ? step : rest[other++];
                          return element(at);
                        });
    return {f, std::move(parts), {}, by().finds_a_place() ? 1 : 0};
  }

  // The last step fastest.
  Halide::RDom domain() const {
    Halide::Region region;
    for (int i = steps(); i-- > 0;) region.emplace_back(0, extent(i));
    return region.empty() ? Halide::RDom(0, 1, "r") : Halide::RDom(region, "r");
  }
  std::vector<Expr> steps_in(const Halide::RDom &r) const {
    std::vector<Expr> at;
    for (int i = 0; i < steps(); ++i) at.emplace_back(r[steps() - 1 - i]);
    return at;
  }

  // Loads are those of register tiles, which may reach past the edge: of what they read there nothing is kept.
  Halide::Func read_by_tiles(const formula::Contraction &tile) {
    tile_ = tile;
    const Stage &from = *tile.by_column->stage;
    Halide::Region region(static_cast<size_t>(from.rank));
    for (int d = 0; d < from.rank; ++d)
      if (formula::axes_in(tile.by_column->arguments[static_cast<size_t>(d)]).count(tile.column) > 0)
        region[static_cast<size_t>(from.rank - 1 - d)] = {0, all_.size(from.extents[static_cast<size_t>(d)])};
    const Halide::Func f = all_.of(from).func;
    return by_column_ = Halide::BoundaryConditions::constant_exterior(f, Halide::cast(f.types()[0], 0), region);
  }

  // An index that is inside of [0, extent) whatever it is.
  Expr inside(const Expression &i, const Expression &extent, Scope &scope) {
    if (formula::always_inside(i, extent, stage_.extents)) return index(i, scope);
    return Halide::clamp(index(i, scope), 0, all_.size(extent) - 1);
  }

 protected:
  Expr load(const Expression &e, Scope &scope) override {
    std::vector<Expr> at;
    for (size_t d = e->arguments.size(); d-- > 0;) {
      const bool anywhere = all_.zeros_.has(*e->stage, static_cast<int>(d));
      at.push_back(anywhere ? index(e->arguments[d], scope) : inside(e->arguments[d], e->stage->extents[d], scope));
      // A tile that reaches past the last row reads that again.
      if (!anywhere && tile_ && is_same(e, tile_->by_row) && formula::axes_in(e->arguments[d]).count(tile_->row) > 0)
        at.back() = Halide::clamp(index(e->arguments[d], scope), 0, all_.size(e->stage->extents[d]) - 1);
    }
    const bool by_column = tile_ && is_same(e, tile_->by_column);
    const StageFunction &from = all_.of(*e->stage);
    Expr v = partial_at(by_column ? by_column_ : from.func, at)[static_cast<size_t>(from.component)];
    if (is_there_.defined() && formula::axes_in(e).count(split_axis_) > 0) {
      using Halide::Internal::Call;
      v = Call::make(v.type(), Call::if_then_else, {is_there_, v}, Call::PureIntrinsic);
    }
    if (e->stage->is_input()) return from_storage(e.type(), v);
    // What has fewer bits in memory is rounded as if it had been there.
    if (compute_type(e.type()) != storage_type(e.type())) return from_storage(e.type(), to_storage(e.type(), v));
    return Halide::cast(compute_type(e.type()), v);
  }
  Expr reduction(const Expression &e, Scope &) override {
    throw std::logic_error("a reduction inside of a stage: " + to_string(e));
  }
  Expr symbol(const Expression &e) override {
    const auto found = all_.symbols_.find(e->name);
    if (found == all_.symbols_.end()) throw std::invalid_argument("'" + e->name + "' is not known to the kernel");
    return found->second;
  }
  Expr carried() override { return carried_; }
  // Indices are taken to be narrow: extents of buffers are.
  formula::Interval bounds(const Expression &e) override {
    formula::Interval all = bounds_.of(e);
    if (all.least < -open) all.least = -open;
    if (all.greatest > open) all.greatest = open;
    return all;
  }

 private:
  bool is_nothing(const Expression &e) const {
    const auto nothing = Halide::Internal::as_const_float(by().nothing()[0]);
    return is_real(e.type()) && nothing && formula::is_number(e, *nothing);
  }
  bool is_solved(const Expression &condition) const {
    bool is_sum = true;
    formula::for_each_node(condition, [&](const Expression::Node &n) {
      is_sum &= n.kind != Expression::Kind::call ||
                (n.function != Function::quotient && n.function != Function::modulo && n.function != Function::divide);
    });
    const std::set<int> axes = formula::axes_in(condition);
    return is_sum && !axes.empty() && *axes.begin() < stage_.rank;
  }
  // Halide fails on a function with the name of one in the C library.
  std::string function_name() const { return stage_.name + "_stage"; }
  Scope scope_at(const std::vector<Expr> &at_steps) const {
    Scope scope;
    scope.axes.assign(arguments_.rbegin(), arguments_.rend());
    scope.axes.insert(scope.axes.end(), at_steps.begin(), at_steps.end());
    return scope;
  }

  const StageFunctions &all_;
  const Stage &stage_;
  Expression element_;          // the stage's, or what is left of it where
  bool is_of_numbers_ = false;  // what is no number is passed over, and
  Expression counts_;           // steps for which this does not hold are left out
  formula::IndexBounds bounds_;
  std::vector<Halide::Var> arguments_;
  std::optional<formula::Contraction> tile_;
  Halide::Func by_column_;
  Expr carried_;         // of a scan
  Expr is_there_;        // where the step of a lane is one, if not everywhere
  int split_axis_ = -1;  // the step that lanes run along
};

namespace {

// Reductions over the same steps, one after the other in one walk: which component of f each is.
// The first one begins with `begin`, if that is defined.
std::vector<int> reduce_in_order(Halide::Func &f, const std::vector<StageCode *> &codes, const Expression &begin = {}) {
  Halide::RDom r = codes[0]->domain();
  const std::vector<Expr> here = codes[0]->here(), at = codes[0]->steps_in(r);
  for (StageCode *code : codes) {
    code->pass_over_no_numbers();
    code->leave_out_idle_steps();
  }
  if (codes[0]->counts().defined()) r.where(codes[0]->counts(at));
  // A place comes with the best element, which is then nobody else's to find.
  std::map<const Expression::Node *, size_t> places;
  std::vector<size_t> owners;
  for (size_t i = 0; i < codes.size(); ++i)
    if (codes[i]->by().finds_a_place()) places[codes[i]->stage().element.get()] = i;
  Partial nothing, next;
  std::vector<size_t> first(codes.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    const auto place = places.find(codes[i]->stage().element.get());
    if (place != places.end() && place->second != i) continue;
    first[i] = nothing.size();
    for (const Expr &e : codes[i]->by().nothing()) nothing.push_back(e);
    owners.push_back(i);
  }
  if (begin.defined()) nothing[0] = codes[0]->at_axes(begin);
  define_partial(f, here, nothing);
  const Partial so_far = partial_at(f, here);
  for (size_t i : owners) {
    const Reduction by = codes[i]->by();
    StepElement e = codes[i]->element(at);
    const std::set<int> used = formula::axes_in(codes[i]->stage().element);
    const bool depends = !used.empty() && *used.rbegin() >= codes[i]->stage().rank;
    // Halide goes through a domain only where something depends on it.
    if (!depends && !by.finds_a_place() && !at.empty()) e.value = Halide::select(at[0] >= 0, e.value, by.nothing()[0]);
    const auto begin = so_far.begin() + static_cast<std::ptrdiff_t>(first[i]);
    for (const Expr &n : by.with_next({begin, begin + (by.finds_a_place() ? 2 : 1)}, e.value, e.place))
      next.push_back(n);
  }
  define_partial(f, here, next);
  std::vector<int> components;
  for (size_t i = 0; i < codes.size(); ++i) {
    const auto place = places.find(codes[i]->stage().element.get());
    const size_t owner = place == places.end() ? i : place->second;
    components.push_back(static_cast<int>(first[owner]) + (codes[i]->by().finds_a_place() ? 1 : 0));
  }
  return components;
}

bool depends_on(const Stage &s, const Stage &other) {
  for (const auto &from : formula::loaded_by(s))
    if (from.get() == &other || (!from->is_input() && depends_on(*from, other))) return true;
  return false;
}

// A map that alone reads a sum, and adds to it what is the same for all rows: a bias.
struct Biased {
  std::shared_ptr<const Stage> map;
  Expression bias;
};
Biased biased(const Stage &sum, const std::vector<std::shared_ptr<const Stage>> &order) {
  if (sum.reduction != Function::sum || sum.is_scatter()) return {};
  Biased found;
  int readers = 0;
  for (const auto &s : order) {
    for (const auto &from : formula::loaded_by(*s)) readers += from.get() == &sum ? 1 : 0;
    if (!s->is_map() || s->element->kind != Expression::Kind::call || s->element->function != Function::add) continue;
    for (size_t i : {0, 1}) {
      const Expression &load = s->element->arguments[i], &other = s->element->arguments[1 - i];
      if (load->kind != Expression::Kind::load || load->stage.get() != &sum || !formula::is_at_own_place(load, *s))
        continue;
      if (other->kind == Expression::Kind::load && other->stage->is_input()) found = {s, other};
    }
  }
  const auto tile = formula::contraction_of(sum);
  const bool is_bias = readers == 1 && found.map && !(tile && formula::axes_in(found.bias).count(tile->row) > 0);
  return is_bias ? found : Biased();
}

bool is_best(Function f) { return f == Function::greatest || f == Function::least; }
bool has_place_of(Function place, Function best) {
  return best == Function::greatest ? place == Function::first_greatest || place == Function::last_greatest
                                    : place == Function::first_least || place == Function::last_least;
}

// Whether both can be made in one walk, and that is worth it.
bool go_together(const Stage &a, const Stage &b) {
  if (!b.reduction || b.is_scatter() || a.rank != b.rank || a.extents.size() != b.extents.size()) return false;
  for (size_t d = 0; d < a.extents.size(); ++d)
    if (!is_same(a.extents[d], b.extents[d])) return false;
  const Function f = *a.reduction, g = *b.reduction;
  if (is_same(a.element, b.element) && ((is_best(f) && has_place_of(g, f)) || (is_best(g) && has_place_of(f, g))))
    return true;
  if (f != Function::sum || g != Function::sum || formula::classify(a) != formula::Pattern::column ||
      formula::classify(b) != formula::Pattern::column || depends_on(a, b) || depends_on(b, a))
    return false;
  for (const auto &from : formula::loaded_by(a.element))
    for (const auto &too : formula::loaded_by(b.element))
      if (from == too) return true;
  return false;
}

}  // namespace

Expr StageFunctions::size(const Expression &e) const {
  static const Stage none;
  ElementCode::Scope scope;
  return Halide::Internal::simplify(StageCode(*this, none).index(e, scope));
}

void StageFunctions::add_input(const Value &input, const Halide::Func &stored) {
  made_[input.get()] = {input.shared(), {stored, {}, {}}};
}

void StageFunctions::read_as_zero_outside(const Value &v, std::set<int> dimensions) {
  if (!lanes_of_) return;  // formulas as they are written
  zeros_.add(v, std::move(dimensions));
  const auto known = made_.find(v.get());
  if (known != made_.end()) add_zeros(known->second);
}

void StageFunctions::add_zeros(Made &made) const {
  made.function.func = zeros_.around(*made.stage, made.function.func, [&](const Expression &e) { return size(e); });
}

void StageFunctions::add(const formula::Values &outputs) {
  const auto order = stages_of(outputs);
  for (const auto &s : order) {
    if (made_.count(s.get()) > 0) continue;
    // Tiles that stay inside, or read zeros outside, may begin with a bias: added behind short sums, it takes 3 % of
    // their time.
    if (const Biased with = biased(*s, order); with.map && (tiles_are_inside_ || zeros_.has(*with.bias->stage))) {
      StageCode code(*this, *s);
      Halide::Func sums(s->name + "_stage"), copy(with.map->name + "_stage");
      reduce_in_order(sums, {&code}, with.bias);
      copy(sums.args()) = sums(sums.args());
      made_[s.get()] = {s, {sums}};
      made_[with.map.get()] = {with.map, {copy}};
      order_.insert(order_.end(), {s, with.map});
      continue;
    }
    if (s->is_input()) throw std::invalid_argument("'" + s->name + "' is read and not an input of the kernel");
    if (join(order, *s)) continue;
    made_[s.get()] = {s, function_of(*s)};
    if (zeros_.has(*s) && !zeros_.are_made_of_others(*s)) add_zeros(made_[s.get()]);
    order_.push_back(s);
  }
}

const StageFunction &StageFunctions::of(const Stage &s) const {
  const auto found = made_.find(&s);
  if (found == made_.end()) throw std::invalid_argument("'" + s.name + "' is no stage of the kernel");
  return found->second.function;
}

forms::Tensor StageFunctions::stored(const Value &v) const {
  const Stage &s = *v.get();
  std::vector<Expr> extents;
  for (int d = s.rank; d-- > 0;) extents.push_back(size(v.extent(d)));
  const Halide::Func f = of(s).func;
  if (s.is_input() || (f.outputs() == 1 && f.type() == storage_type(s.type))) return {f, extents};
  Halide::Func stored(s.name + "_stored");
  const std::vector<Halide::Var> at = f.args();
  const Partial all = partial_at(f, {at.begin(), at.end()});
  stored(at) = to_storage(s.type, all[static_cast<size_t>(of(s).component)]);
  return {stored, extents};
}

StageFunction StageFunctions::function_of(const Stage &s) const {
  StageCode code(*this, s);
  if (s.is_map()) return code.map();
  if (s.is_scatter()) return code.scatter();
  if (s.is_scan()) return code.scan();
  Halide::Func by_column;
  if (const auto tile = formula::contraction_of(s); tile && !tiles_are_inside_) by_column = code.read_by_tiles(*tile);
  if (const RowSplit lanes = split(s); !by_column.defined() && lanes.step >= 0) return code.by_lanes(lanes);
  StageFunction f = {Halide::Func(s.name + "_stage"), {}, by_column};
  f.component = reduce_in_order(f.func, {&code})[0];
  return f;
}

bool StageFunctions::join(const std::vector<std::shared_ptr<const Stage>> &order, const Stage &s) {
  if (!s.reduction || s.is_scatter() || formula::contraction_of(s) || split(s).step >= 0) return false;
  const auto can_be_made = [&](const Stage &other) {
    for (const auto &from : formula::loaded_by(other.element))
      if (made_.count(from.get()) == 0) return false;
    return made_.count(&other) == 0;
  };
  std::vector<std::shared_ptr<const Stage>> joined;
  for (const auto &other : order)
    if (other.get() == &s || (!other->is_input() && can_be_made(*other) && go_together(s, *other)))
      joined.push_back(other);
  if (joined.size() < 2) return false;
  std::vector<StageCode> codes;
  std::vector<StageCode *> pointers;
  for (const auto &one : joined) codes.emplace_back(*this, *one);
  for (StageCode &c : codes) pointers.push_back(&c);
  Halide::Func f(s.name + "_stage");
  const std::vector<int> components = reduce_in_order(f, pointers);
  for (size_t i = 0; i < joined.size(); ++i) {
    made_[joined[i].get()] = {joined[i], {f, {}, {}, components[i]}};
    order_.push_back(joined[i]);
  }
  return true;
}

}  // namespace saltern::generators
