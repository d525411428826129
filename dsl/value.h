#pragma once
// Values: tensors that are formulas. An algorithm is a function of Values to Values.
//
//   Value largest = named("largest", greatest(x, {1}));       a reduction keeps its axis, with extent 1
//   Value power   = named("power", exp(x - stop_gradient(largest)));
//   Value y       = power / sum(power, {1});
//
//   Value y = compute("conv1d", {n, o, p}, [&](Expression n, Expression o, Expression p) {
//     return sum({c, k}, [&](Expression c, Expression k) { return w(o, c, k) * x.or_zero(n, c, p + k - pad); });
//   });
//
// A Value is a stage: extents, and one element as an expression of axes and of loads of other stages. A stage is a map,
// or one reduction of an expression without reductions (those inside others become stages of their own), or a scatter, or a
// scan, whose elements along one axis each see the one before, or a state of a recurrence (recurrence.h).
// Maps without a name are not stages of the formula: whoever loads them writes their expression in its place. A name
// makes a stage, which a schedule may keep and whose gradient is taken once.
//
// Extents are numbers or expressions of sizes. Extents that meet in one operator and are not the number 1 are taken to be
// equal where they are sizes, and have to be where they are numbers: say that two sizes are equal by giving inputs the
// same one. Index order is the user's, outermost first. A plain number takes the type of what it meets.

#include <optional>
#include <utility>

#include "dsl/expression.h"

namespace saltern::formula {

struct GradientRule;
struct Recurrence;

struct Stage {
  std::string name;
  Type type = Type::f32;
  std::vector<Expression> extents;  // of the axes of the result, then of those that are reduced over
  int rank = 0;
  std::optional<Function> reduction;
  Expression element;               // undefined: an input, or a state of a recurrence
  std::vector<Expression> targets;  // scatter: where elements are added to, by dimension; none: at their axes
  int along = -1;                   // scan: the axis that it goes along
  Expression before = {};           // scan: what its first element sees, of the other axes
  std::shared_ptr<const Recurrence> recurrence = {};  // what it is a state of, after each turn (recurrence.h),
  int state = 0;                                      // and which one
  bool kept = false;                                  // inputs, reductions and what has a name
  bool literal = false;                               // a plain number, which has no type of its own
  std::shared_ptr<const GradientRule> rule = {};      // instead of the derived gradient (derivative.h)
  int id = 0;                                         // in the order of making

  bool is_input() const { return !element.defined() && !is_recurrent(); }
  bool is_map() const { return element.defined() && !reduction && !is_scan(); }
  bool is_scatter() const { return !targets.empty(); }
  bool is_scan() const { return along >= 0; }
  bool is_recurrent() const { return recurrence != nullptr; }
};

using Axes = std::vector<Expression>;
Axes axes_between(int from, int to);
// A stage of this name and these extents, about which nothing else is said.
Stage shaped(const std::string &name, const std::vector<Expression> &extents);

class Value {
 public:
  Value() = default;
  explicit Value(std::shared_ptr<const Stage> stage) : stage_(std::move(stage)) {}
  Value(double number);  // NOLINT: a number is a value of rank 0

  bool defined() const { return stage_ != nullptr; }
  const Stage *get() const { return stage_.get(); }
  const Stage *operator->() const { return stage_.get(); }
  const std::shared_ptr<const Stage> &shared() const { return stage_; }
  Type type() const { return stage_->type; }
  int rank() const { return stage_->rank; }
  // Negative dimensions count from the end.
  const Expression &extent(int dimension) const;
  std::vector<Expression> extents() const;

  Expression at(const std::vector<Expression> &indices) const;
  template <typename... Indices>
  Expression operator()(const Indices &...indices) const {
    return at({Expression(indices)...});
  }
  // `otherwise` where an index is outside.
  Expression or_else(double otherwise, const std::vector<Expression> &indices) const;
  template <typename... Indices>
  Expression or_zero(const Indices &...indices) const {
    return or_else(0, {Expression(indices)...});
  }

 private:
  std::shared_ptr<const Stage> stage_;
};

using Values = std::vector<Value>;

// ---- Making values.
Value input(const std::string &name, const std::vector<Expression> &extents, Type type = Type::f32);
// A number known at run time, such as an epsilon.
Value parameter(const std::string &name, Type type = Type::f32, double typical = 1);
// A number of a type; a plain one takes the type of what it meets.
Value constant_value(Type type, double number);

using Element = std::function<Expression(const Axes &)>;
Value compute(const std::string &name, const std::vector<Expression> &extents, const Element &element);
// The same as a map without a name: whoever loads it writes its expression in its place.
Value inlined(const std::vector<Expression> &extents, const Element &element);
Value named(const std::string &name, const Value &v);
// A stage as it is, interned; for those who make formulas of formulas.
Value stage(Stage s);
// What a graph has: an element that loads operands by their numbers; and the same with these operands in their place.
Expression with_operands(const Expression &e, const Values &operands);
Value of_formula(const std::string &name, const Expression &element, const std::vector<Expression> &extents,
                 const Values &operands);

// ---- Along one axis in order: y(.., t, ..) = next(axes, y(.., t - 1, ..)). The first element along it sees `before`, which
// broadcasts and has the type of the result, one that is as exact in memory as it is computed: 16 bits are not.
using Next = std::function<Expression(const Axes &, const Expression &carried)>;
Value scan(const std::string &name, const std::vector<Expression> &extents, int along, const Value &before,
           const Next &next);

// ---- Inside compute(): reductions over steps.
inline Expression sum(const std::vector<Expression> &extents, const Body &b) {
  return reduce_open(Function::sum, extents, b);
}
inline Expression greatest(const std::vector<Expression> &extents, const Body &b) {
  return reduce_open(Function::greatest, extents, b);
}

// The same with an argument for each axis and each step: compute("y", {n, m}, [&](Expression i, Expression j) { ... }).
template <size_t... I, typename F>
Expression called_with(const F &f, const Axes &a, std::index_sequence<I...>) {
  return f(a[I]...);
}
template <typename F>
constexpr bool takes_axes = std::is_invocable_v<F, const Axes &>;
template <size_t N, typename F>
Element spread(const F &f) {
  return [&f](const Axes &a) { return called_with(f, a, std::make_index_sequence<N>()); };
}
template <size_t N, typename F, typename = std::enable_if_t<!takes_axes<F>>>
Value compute(const std::string &name, const Expression (&extents)[N], const F &f) {
  return compute(name, std::vector<Expression>(extents, extents + N), spread<N>(f));
}
template <size_t N, typename F, typename = std::enable_if_t<!takes_axes<F>>>
Expression sum(const Expression (&extents)[N], const F &f) {
  return reduce_open(Function::sum, std::vector<Expression>(extents, extents + N), spread<N>(f));
}
template <size_t N, typename F, typename = std::enable_if_t<!takes_axes<F>>>
Expression greatest(const Expression (&extents)[N], const F &f) {
  return reduce_open(Function::greatest, std::vector<Expression>(extents, extents + N), spread<N>(f));
}

// ---- Of whole values: elementwise with broadcasting, and reductions over axes.
Value map(Function f, const Value &a);
Value map(Function f, const Value &a, const Value &b);
Value where(const Value &condition, const Value &then, const Value &otherwise);
Value cast(Type type, const Value &a);
Value reduced(Function f, const Value &x, const std::vector<int> &axes);
inline Value sum(const Value &x, const std::vector<int> &axes) { return reduced(Function::sum, x, axes); }
inline Value product(const Value &x, const std::vector<int> &axes) { return reduced(Function::product, x, axes); }
inline Value greatest(const Value &x, const std::vector<int> &axes) { return reduced(Function::greatest, x, axes); }
inline Value least(const Value &x, const std::vector<int> &axes) { return reduced(Function::least, x, axes); }
Value mean(const Value &x, const std::vector<int> &axes);
Value sum_all(const Value &x);

// ---- Movement. split: an axis of g k becomes (g, k); merged: two neighbours become one.
Value split(const Value &x, int axis, const Expression &outer, const Expression &inner);
Value merged(const Value &x, int axis);
Value permuted(const Value &x, const std::vector<int> &order);

#define SALTERN_VALUE_BINARY(NAME, FUNCTION) \
  inline Value NAME(const Value &a, const Value &b) { return map(Function::FUNCTION, a, b); }
SALTERN_VALUE_BINARY(operator+, add)
SALTERN_VALUE_BINARY(operator-, subtract)
SALTERN_VALUE_BINARY(operator*, multiply)
SALTERN_VALUE_BINARY(operator/, divide)
SALTERN_VALUE_BINARY(operator<, less)
SALTERN_VALUE_BINARY(operator<=, less_equal)
SALTERN_VALUE_BINARY(operator==, equal)
SALTERN_VALUE_BINARY(operator&&, both)
SALTERN_VALUE_BINARY(operator||, either)
SALTERN_VALUE_BINARY(max, maximum)
SALTERN_VALUE_BINARY(min, minimum)
SALTERN_VALUE_BINARY(power, power)
#undef SALTERN_VALUE_BINARY
inline Value operator>(const Value &a, const Value &b) { return b < a; }
inline Value operator>=(const Value &a, const Value &b) { return b <= a; }
#define SALTERN_VALUE_UNARY(NAME, FUNCTION) \
  inline Value NAME(const Value &a) { return map(Function::FUNCTION, a); }
SALTERN_VALUE_UNARY(operator-, negate)
SALTERN_VALUE_UNARY(operator!, invert)
SALTERN_VALUE_UNARY(exp, exp)
SALTERN_VALUE_UNARY(log, log)
SALTERN_VALUE_UNARY(sqrt, sqrt)
SALTERN_VALUE_UNARY(sin, sine)
SALTERN_VALUE_UNARY(cos, cosine)
SALTERN_VALUE_UNARY(tanh, tanh)
SALTERN_VALUE_UNARY(erf, erf)
SALTERN_VALUE_UNARY(abs, absolute)
SALTERN_VALUE_UNARY(stop_gradient, stopped)
#undef SALTERN_VALUE_UNARY

// ---- Looking at formulas.

// All stages that the outputs are made of, each after what it loads; inputs too.
std::vector<std::shared_ptr<const Stage>> stages_of(const Values &outputs);
// A scan's element with something in the place of what it carries.
Expression with_carried(const Expression &e, const Expression &by);
// What a stage is made of: its element, targets, what a scan begins with.
std::vector<Expression> expressions_of(const Stage &s);
// The stages that an expression loads, or all of a stage's, each once.
std::vector<std::shared_ptr<const Stage>> loaded_by(const Expression &e);
std::vector<std::shared_ptr<const Stage>> loaded_by(const Stage &s);
std::string to_string(const Stage &s);

}  // namespace saltern::formula
