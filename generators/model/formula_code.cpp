#include "generators/model/formula_code.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "dsl/index_bounds.h"
#include "generators/element_code.h"
#include "generators/reduction_code.h"
#include "runtime/error.h"

namespace saltern::generators {

using formula::Expression;
using formula::Function;
using Halide::Expr;
using Kind = Expression::Kind;

namespace {

class Writer : public ElementCode {
 public:
  Writer(const Expression &element, const std::vector<int64_t> &extents,
         const std::vector<std::vector<int64_t>> &operand_shapes, const ReadOperand &read, const SplitRows &split)
      : ElementCode(minds_what_is_no_number(element), /*narrow=*/false),
        bounds_(extents),
        operand_shapes_(operand_shapes),
        read_(read),
        split_(split) {}

  std::vector<FormulaReduction> reductions;

 private:
  formula::Interval bounds(const Expression &e) override { return bounds_.of(e); }
  Expr carried() override { fail("a formula carries something and is no scan"); }
  Expr symbol(const Expression &e) override { fail("a formula reads '", e->name, "', which has no number yet"); }

  Expr load(const Expression &e, Scope &scope) override {
    const Expression::Node &n = *e.get();
    const std::vector<int64_t> &shape = operand_shapes_.at(static_cast<size_t>(n.number));
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return Halide::cast(compute_type(n.type), 0);
    std::vector<Expr> indices;
    for (size_t d = 0; d < n.arguments.size(); ++d) {
      const formula::Interval b = bounds_.of(n.arguments[d]);
      const Expr i = index(n.arguments[d], scope);
      const bool inside = b.least >= 0 && b.greatest < shape[d];
      indices.push_back(inside ? i : Halide::clamp(i, 0, static_cast<int>(shape[d]) - 1));
    }
    return from_storage(n.type, read_(n.number, indices));
  }

  // What a reduction depends on beside its own steps.
  struct Dependence {
    std::set<int> axes, around;  // of the result; steps of reductions around it
    bool on_steps = false;       // on its own ones at all
  };

  static Dependence dependence(const Expression::Node &n) {
    Dependence d;
    std::set<int> own, inner;
    for (const formula::ReductionStep &s : n.steps) own.insert(s.id);
    formula::for_each_node(n.arguments[0], [&](const Expression::Node &m) {
      for (const formula::ReductionStep &s : m.steps) inner.insert(s.id);
    });
    formula::for_each_node(n.arguments[0], [&](const Expression::Node &m) {
      if (m.kind == Kind::axis) d.axes.insert(m.number);
      if (m.kind != Kind::step) return;
      d.on_steps |= own.count(m.number) > 0;
      if (!own.count(m.number) && !inner.count(m.number)) d.around.insert(m.number);
    });
    return d;
  }

  // A function over what its body depends on: axes of the result, and steps of reductions around it. Equal ones that
  // depend on axes alone are one function.
  Expr reduction(const Expression &e, Scope &outer) override {
    const Expression::Node &n = *e.get();
    const Dependence on = dependence(n);
    Halide::Func f(formula::name(n.function));
    std::vector<Expr> called_with;
    // The result's last axis first: it is the innermost in most memory.
    for (auto a = on.axes.rbegin(); a != on.axes.rend(); ++a)
      called_with.push_back(outer.axes.at(static_cast<size_t>(*a)));
    for (int s : on.around) called_with.push_back(outer.steps.at(s));
    const auto known = on.around.empty() ? known_.find(to_string(e)) : known_.end();
    if (known != known_.end())
      f = known->second;
    else
      define(f, n, on, outer.axes.size());
    if (on.around.empty()) known_.emplace(to_string(e), f);
    const Partial all = partial_at(f, called_with);
    return all.size() == 1 ? all[0] : Halide::cast<int64_t>(all[1]);
  }

  void define(Halide::Func &f, const Expression::Node &n, const Dependence &on, size_t rank) {
    FormulaReduction made{f, {on.axes.rbegin(), on.axes.rend()}, {}};
    made.axes.insert(made.axes.end(), on.around.size(), -1);
    for (const formula::ReductionStep &s : n.steps) made.steps *= s.extent;
    Scope scope;
    scope.axes.resize(rank);
    std::vector<Halide::Var> arguments;
    for (auto a = on.axes.rbegin(); a != on.axes.rend(); ++a) {
      arguments.emplace_back("a" + std::to_string(*a));
      scope.axes[static_cast<size_t>(*a)] = arguments.back();
    }
    for (int s : on.around) {
      arguments.emplace_back("s" + std::to_string(s));
      scope.steps[s] = arguments.back();
    }
    // A product in parts overflows in one of them where the whole, with a 0 in another, does not.
    const bool in_parts = split_ && on.around.empty() && on.on_steps && n.function != Function::product;
    const RowSplit split = in_parts ? split_(n) : RowSplit();
    if (split.step < 0)
      in_order(f, n, on.on_steps && made.steps > 0, arguments, scope);
    else
      made.parts = by_lanes(f, n, split, arguments, scope);
    reductions.push_back(std::move(made));
  }

  // The number of a step, counted with the last one fastest.
  static Expr place_of(const Expression::Node &n, const Scope &scope) {
    Expr place = 0;
    for (const formula::ReductionStep &s : n.steps) place = place * static_cast<int>(s.extent) + scope.steps.at(s.id);
    return place;
  }

  // One step after the other, the last one fastest.
  void in_order(Halide::Func &f, const Expression::Node &n, bool depends, const std::vector<Halide::Var> &arguments,
                Scope &scope) {
    Halide::Region region;
    for (auto s = n.steps.rbegin(); s != n.steps.rend(); ++s) region.emplace_back(0, static_cast<int>(s->extent));
    if (region.empty()) region.emplace_back(0, 1);
    const Halide::RDom r(region, "r");
    for (size_t s = 0; s < n.steps.size(); ++s)
      scope.steps[n.steps[s].id] = r[static_cast<int>(n.steps.size() - 1 - s)];
    const Reduction by{n.function, n.arguments[0].type()};
    const Partial nothing = by.nothing();
    Expr v = value(n.arguments[0], scope);
    // Halide goes through a domain only where something depends on it, which of no elements nothing does.
    if (!depends) v = Halide::select(r[0] >= 0, v, nothing[0]);
    define_partial(f, {arguments.begin(), arguments.end()}, nothing);
    const std::vector<Expr> here(arguments.begin(), arguments.end());
    define_partial(f, here, by.with_next(partial_at(f, here), v, place_of(n, scope)));
  }

  std::vector<Halide::Func> by_lanes(Halide::Func &f, const Expression::Node &n, const RowSplit &split,
                                     const std::vector<Halide::Var> &arguments, const Scope &outer) {
    Halide::Region others;
    for (size_t s = n.steps.size(); s-- > 0;)
      if (static_cast<int>(s) != split.step) others.emplace_back(0, static_cast<int>(n.steps[s].extent));
    return reduce_by_lanes(f, {n.function, n.arguments[0].type()}, arguments, split,
                           static_cast<int>(n.steps[static_cast<size_t>(split.step)].extent), others,
                           [&](const Expr &step, const std::vector<Expr> &rest, const Expr &) -> StepElement {
                             Scope scope = outer;
                             size_t other = 0;
                             for (size_t s = n.steps.size(); s-- > 0;)
                               scope.steps[n.steps[s].id] = static_cast<int>(s) == split.step ? step : rest[other++];
                             return {value(n.arguments[0], scope), place_of(n, scope)};
                           });
  }

  formula::IndexBounds bounds_;
  const std::vector<std::vector<int64_t>> &operand_shapes_;
  const ReadOperand &read_;
  const SplitRows &split_;
  std::map<std::string, Halide::Func> known_;
};

}  // namespace

FormulaCode formula_code(const Expression &element, const std::vector<Expr> &axes, const std::vector<int64_t> &extents,
                         const std::vector<std::vector<int64_t>> &operand_shapes, const ReadOperand &read,
                         const SplitRows &split) {
  Writer writer(element, extents, operand_shapes, read, split);
  Writer::Scope scope;
  scope.axes = axes;
  const Expr value = writer.value(element, scope);
  return {to_storage(element.type(), value), std::move(writer.reductions)};
}

}  // namespace saltern::generators
