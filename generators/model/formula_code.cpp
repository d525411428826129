#include "generators/model/formula_code.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "dsl/index_bounds.h"
#include "generators/model/reduction_code.h"
#include "generators/model/small_float_code.h"
#include "runtime/error.h"

namespace saltern::generators {

using formula::Expression;
using formula::Function;
using Halide::Expr;
using Kind = Expression::Kind;

namespace {

class Writer {
 public:
  Writer(const Expression &element, const std::vector<int64_t> &extents,
         const std::vector<std::vector<int64_t>> &operand_shapes, const ReadOperand &read, const SplitRows &split)
      : strict_(minds_what_is_no_number(element)),
        bounds_(extents),
        operand_shapes_(operand_shapes),
        read_(read),
        split_(split) {}

  struct Scope {
    std::vector<Expr> axes;
    std::vector<int> axis_numbers;  // what each of its axes is of the result
    std::map<int, Expr> steps;      // by id
    std::unordered_map<const Expression::Node *, Expr> values, indices;
  };

  // In the compute type.
  Expr value(const Expression &e, Scope &scope) {
    const auto known = scope.values.find(e.get());
    if (known != scope.values.end()) return known->second;
    return scope.values[e.get()] = new_value(*e.get(), e, scope);
  }

  std::vector<FormulaReduction> reductions;

 private:
  Expr new_value(const Expression::Node &n, const Expression &e, Scope &scope) {
    switch (n.kind) {
      case Kind::constant:
        return is_real(n.type) ? Halide::Internal::make_const(compute_type(n.type), n.real)
                               : Halide::Internal::make_const(compute_type(n.type), n.integer);
      case Kind::axis:
      case Kind::step:
        return Halide::cast<int64_t>(index(e, scope));
      case Kind::symbol:
        fail("a formula reads '", n.name, "', which has no number yet");
      case Kind::load:
        return load(n, scope);
      case Kind::call: {
        const Type type = n.arguments[0].type();
        const Expr a = value(n.arguments[0], scope);
        if (n.arguments.size() == 1) return call_code(n.function, type, a);
        const Expr b = value(n.arguments[1], scope);
        const Expr exact = strict_ && is_real(type) ? strict_call(n.function, a, b) : Expr();
        return exact.defined() ? exact : call_code(n.function, type, a, b);
      }
      case Kind::select:
        return Halide::select(value(n.arguments[0], scope), value(n.arguments[1], scope), value(n.arguments[2], scope));
      case Kind::cast:
        return cast_code(n.arguments[0].type(), n.type, value(n.arguments[0], scope));
      case Kind::bits: {
        const Type from = n.arguments[0].type();
        const Expr stored = to_storage(from, value(n.arguments[0], scope));
        return from_storage(n.type, Halide::reinterpret(storage_type(n.type), stored));
      }
      case Kind::reduce:
        return reduction(e, scope);
    }
    return {};
  }

  // An index in 32 bits.
  Expr index(const Expression &e, Scope &scope) {
    const auto known = scope.indices.find(e.get());
    if (known != scope.indices.end()) return known->second;
    return scope.indices[e.get()] = new_index(*e.get(), e, scope);
  }

  Expr new_index(const Expression::Node &n, const Expression &e, Scope &scope) {
    switch (n.kind) {
      case Kind::constant:
        return static_cast<int>(std::clamp<int64_t>(n.integer, -0x7FFFFFFF, 0x7FFFFFFF));
      case Kind::axis:
        return scope.axes.at(static_cast<size_t>(n.number));
      case Kind::step:
        return scope.steps.at(n.number);
      case Kind::select:
        return Halide::select(value(n.arguments[0], scope), index(n.arguments[1], scope), index(n.arguments[2], scope));
      case Kind::call:
        if (n.type == Type::i64 && n.arguments.size() == 2 && is_index_function(n.function))
          return index_call(n, e, scope);
        break;
      default:
        break;
    }
    return Halide::cast<int32_t>(value(e, scope));
  }

  static bool is_index_function(Function f) {
    return f == Function::add || f == Function::subtract || f == Function::multiply || f == Function::divide ||
           f == Function::modulo || f == Function::quotient || f == Function::maximum || f == Function::minimum;
  }

  Expr index_call(const Expression::Node &n, const Expression &e, Scope &scope) {
    const Expr a = index(n.arguments[0], scope), b = index(n.arguments[1], scope);
    // Halide rounds down, and does not matter where nothing is negative.
    if (n.function == Function::quotient && bounds_.of(n.arguments[1]).least > 0) return a / b;
    if (n.function == Function::divide && bounds_.of(n.arguments[0]).least >= 0 && bounds_.of(n.arguments[1]).least > 0)
      return a / b;
    const Expr result = call_code(n.function, Type::i64, a, b);
    if (n.function != Function::divide) return result;
    // Halide takes a quotient that is rounded towards zero for one that is rounded down: -1 / 2 would be read at -1.
    const formula::Interval all = bounds_.of(e);
    constexpr int64_t most = 0x7FFFFFFF;
    return all.least < -most || all.greatest > most
               ? result
               : Halide::clamp(result, static_cast<int>(all.least), static_cast<int>(all.greatest));
  }

  Expr load(const Expression::Node &n, Scope &scope) {
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

 public:
  static Expr from_storage(Type type, const Expr &stored) {
    if (facts(type).is_small_real()) return f32_of_small_code(type, stored);
    return Halide::cast(compute_type(type), stored);
  }
  static Expr to_storage(Type type, const Expr &value) {
    if (facts(type).is_small_real()) return small_code_of_f32(type, value, /*saturate=*/false);
    return Halide::cast(storage_type(type), value);
  }

 private:
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
  Expr reduction(const Expression &e, Scope &outer) {
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

  // Partial results, one a lane, which are joined by halves.
  std::vector<Halide::Func> by_lanes(Halide::Func &f, const Expression::Node &n, const RowSplit &split,
                                     const std::vector<Halide::Var> &arguments, const Scope &outer) {
    const Reduction by{n.function, n.arguments[0].type()};
    const Halide::Var lane("lane");
    const auto in_lane = [&](const Expr &number) {
      std::vector<Expr> at = {number};
      at.insert(at.end(), arguments.begin(), arguments.end());
      return at;
    };
    Halide::Func lanes(f.name() + "_lanes");
    define_partial(lanes, in_lane(lane), by.nothing());
    // As many elements at a time as there are lanes; then a vector of them; then those that are left.
    const auto extent = static_cast<int>(n.steps[static_cast<size_t>(split.step)].extent);
    int first = 0;
    for (int width : {split.lanes * split.vectors, split.lanes, 1}) {
      const int turns = width == 1 ? 1 : (extent - first) / width, count = width == 1 ? extent - first : width;
      if (turns == 0 || count == 0) continue;
      Scope scope = outer;
      Halide::Region region = {{0, count}, {0, turns}};
      for (size_t s = n.steps.size(); s-- > 0;)
        if (static_cast<int>(s) != split.step) region.emplace_back(0, static_cast<int>(n.steps[s].extent));
      const Halide::RDom r(region, "r");
      int other = 2;
      for (size_t s = n.steps.size(); s-- > 0;)
        scope.steps[n.steps[s].id] =
            static_cast<int>(s) == split.step ? Expr(first + r[1] * width + r[0]) : Expr(r[other++]);
      const Expr v = value(n.arguments[0], scope), place = place_of(n, scope);
      const Partial so_far = partial_at(lanes, in_lane(r[0]));
      // Places go up, but for what was left over.
      define_partial(lanes, in_lane(r[0]),
                     first == 0 ? by.with_next(so_far, v, place) : by.joined(so_far, by.of_one(v, place)));
      first += turns * count;
    }
    std::vector<Halide::Func> parts = {lanes};
    for (int width = split.lanes * split.vectors / 2; width > 0; width /= 2) {
      const Halide::Func wide = parts.back();
      if (width == 1) {
        define_partial(f, {arguments.begin(), arguments.end()},
                       by.joined(partial_at(wide, in_lane(0)), partial_at(wide, in_lane(1))));
        break;
      }
      Halide::Func half(f.name() + "_" + std::to_string(width));
      define_partial(half, in_lane(lane),
                     by.joined(partial_at(wide, in_lane(lane)), partial_at(wide, in_lane(lane + width))));
      parts.back().bound(lane, 0, 2 * width);
      parts.push_back(half);
    }
    parts.back().bound(lane, 0, 2);
    return parts;
  }

  const bool strict_;
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
  return {Writer::to_storage(element.type(), value), std::move(writer.reductions)};
}

}  // namespace saltern::generators
