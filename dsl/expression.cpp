#include "dsl/expression.h"

#include <array>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "dsl/index_arithmetic.h"
#include "dsl/index_bounds.h"
#include "dsl/value.h"

namespace saltern::formula {

namespace {

Expression made(Expression::Kind kind, Type type, std::vector<Expression> arguments, Function f = Function::negate) {
  Expression::Node n{kind, type, f};
  n.arguments = std::move(arguments);
  return interned(std::move(n));
}

[[noreturn]] void refuse(Function f, const std::string &why) {
  throw std::invalid_argument("formula: " + name(f) + ": " + why);
}

void expect_arithmetic(Function f, const Expression &a) {
  if (!a.defined()) refuse(f, "an operand is missing");
  if (!facts(a.type()).is_arithmetic())
    refuse(f, "nothing is computed in " + std::string(facts(a.type()).name) + "; cast it first");
}

bool gives_boolean(Function f) {
  return f == Function::is_nan || f == Function::is_infinite || f == Function::less || f == Function::less_equal ||
         f == Function::equal;
}

std::atomic<int> next_step{0};

}  // namespace

const std::string &name(Function f) {
  static const std::array<std::string, 52> names = {
      "negate",         "absolute",      "exp",         "log",         "sqrt",     "sine",       "cosine",    "tangent",
      "arcsine",        "arccosine",     "arctangent",  "sinh",        "cosh",     "tanh",       "arcsinh",   "arccosh",
      "arctanh",        "erf",           "floor",       "ceiling",     "round",    "truncate",   "invert",    "is_nan",
      "is_infinite",    "stopped",       "add",         "subtract",    "multiply", "divide",     "remainder", "modulo",
      "quotient",       "power",         "maximum",     "minimum",     "less",     "less_equal", "equal",     "both",
      "either",         "differ",        "shift_left",  "shift_right", "sum",      "product",    "greatest",  "least",
      "first_greatest", "last_greatest", "first_least", "last_least"};
  return names.at(static_cast<size_t>(f));
}
// Those of one operand stand first, then those of two.
int operand_count(Function f) { return f < Function::add ? 1 : f < Function::sum ? 2 : 0; }

bool finds_a_place(Function f) { return f >= Function::first_greatest; }

Expression::Expression(int index) : Expression(static_cast<int64_t>(index)) {}
Expression::Expression(int64_t index) : Expression(constant_integer(Type::i64, index)) {}

Expression constant(Type type, double value) {
  Expression::Node n{Expression::Kind::constant, type};
  if (is_real(type))
    n.real = value;
  else
    n.integer = static_cast<int64_t>(value);
  return interned(std::move(n));
}

Expression constant_integer(Type type, int64_t value) {
  if (is_real(type)) return constant(type, static_cast<double>(value));
  Expression::Node n{Expression::Kind::constant, type};
  n.integer = value;
  return interned(std::move(n));
}

Expression truth(bool value) { return constant_integer(Type::boolean, value ? 1 : 0); }

Expression axis(int number) {
  Expression::Node n{Expression::Kind::axis, Type::i64};
  n.number = number;
  return interned(std::move(n));
}

Expression load(int operand, Type type, std::vector<Expression> indices) {
  for (const Expression &i : indices)
    if (!i.defined() || i.type() != Type::i64) throw std::invalid_argument("formula: an index is not i64");
  Expression::Node n{Expression::Kind::load, type};
  n.number = operand;
  n.arguments = std::move(indices);
  return interned(std::move(n));
}

Expression load(const std::shared_ptr<const Stage> &stage, std::vector<Expression> indices) {
  if (static_cast<int>(indices.size()) != stage->rank)
    throw std::invalid_argument("formula: " + stage->name + " of rank " + std::to_string(stage->rank) + " is read at " +
                                std::to_string(indices.size()) + " indices");
  Expression e = load(-1, stage->type, std::move(indices));
  Expression::Node n = *e.get();
  n.stage = stage;
  // There is one place along an extent of 1.
  for (size_t d = 0; d < n.arguments.size(); ++d)
    if (is_number(stage->extents[d], 1)) n.arguments[d] = 0;
  return interned(std::move(n));
}

Expression symbol(const std::string &name, Type type, int64_t least, double typical) {
  Expression::Node n{Expression::Kind::symbol, type};
  n.name = name;
  n.integer = least;
  n.real = typical;
  return interned(std::move(n));
}

Expression carried(Type type) { return interned({Expression::Kind::carried, type}); }

Expression call(Function f, const Expression &a) {
  if (operand_count(f) != 1) refuse(f, "does not take one operand");
  expect_arithmetic(f, a);
  if (f == Function::invert && a.type() == Type::boolean && a->kind == Expression::Kind::constant)
    return truth(a->integer == 0);
  if (f == Function::negate && a->is_index) return 0 - a;
  return made(Expression::Kind::call, gives_boolean(f) ? Type::boolean : a.type(), {a}, f);
}

namespace {

// Of two conditions; undefined where nothing is decided.
Expression simple_condition(Function f, const Expression &a, const Expression &b) {
  if (f != Function::both && f != Function::either) return {};
  const bool is_both = f == Function::both;
  if (is_same(a, b) || is_truth(b, is_both)) return a;
  if (is_truth(a, is_both)) return b;
  return is_truth(a, !is_both) || is_truth(b, !is_both) ? truth(!is_both) : Expression();
}

}  // namespace

Expression call(Function f, const Expression &a, const Expression &b) {
  if (operand_count(f) != 2) refuse(f, "does not take two operands");
  expect_arithmetic(f, a);
  expect_arithmetic(f, b);
  if (a.type() != b.type())
    refuse(f, "of " + std::string(facts(a.type()).name) + " and " + std::string(facts(b.type()).name));
  if (f == Function::quotient && a.type() != Type::i64) refuse(f, "is of indices only");
  Expression simple;
  if (a.type() == Type::i64) simple = simple_call(f, a, b);
  if (a.type() == Type::boolean) simple = simple_condition(f, a, b);
  if (simple.defined()) return simple;
  return made(Expression::Kind::call, gives_boolean(f) ? Type::boolean : a.type(), {a, b}, f);
}

Expression select(const Expression &condition, const Expression &then, const Expression &otherwise) {
  if (condition.type() != Type::boolean) throw std::invalid_argument("formula: select: the condition is not a boolean");
  if (then.type() != otherwise.type())
    throw std::invalid_argument("formula: select: of " + std::string(facts(then.type()).name) + " and " +
                                std::string(facts(otherwise.type()).name));
  if (is_same(then, otherwise) || is_truth(condition, true)) return then;
  if (is_truth(condition, false)) return otherwise;
  // A choice inside of the same choice is made already.
  if (then->kind == Expression::Kind::select && is_same(then->arguments[0], condition))
    return select(condition, then->arguments[1], otherwise);
  return made(Expression::Kind::select, then.type(), {condition, then, otherwise});
}

Expression cast(Type type, const Expression &a) {
  if (type == a.type()) return a;
  if (type == Type::text || a.type() == Type::text) throw std::invalid_argument("formula: cast of a text");
  if (a->kind == Expression::Kind::constant && a.type() == Type::i64) {
    const int64_t exact = type == Type::f64 ? int64_t{1} << 53 : type == Type::f32 ? 1 << 24 : 0;
    if (-exact < a->integer && a->integer < exact) return constant(type, static_cast<double>(a->integer));
  }
  return made(Expression::Kind::cast, type, {a});
}

Expression bits_as(Type type, const Expression &a) {
  if (facts(type).bits != facts(a.type()).bits) throw std::invalid_argument("formula: bits_as of another size");
  return made(Expression::Kind::bits, type, {a});
}

Expression fresh_step(const Expression &extent) {
  Expression::Node n{Expression::Kind::step, Type::i64};
  n.number = next_step++;
  const bool is_known = extent->kind == Expression::Kind::constant;
  n.integer = is_known ? extent->integer : -1;
  if (!is_known) n.arguments = {extent};
  return interned(std::move(n));
}

Expression extent_of_step(const Expression &step) {
  return step->arguments.empty() ? Expression(step->integer) : step->arguments[0];
}

Expression reduce(Function f, const std::vector<int64_t> &extents, const Body &body) {
  return reduce_open(f, {extents.begin(), extents.end()}, body);
}

Expression reduce_open(Function f, const std::vector<Expression> &extents, const Body &body) {
  if (operand_count(f) != 0) refuse(f, "is not a reduction");
  Expression::Node n{Expression::Kind::reduce, Type::i64, f};
  std::vector<Expression> at;
  for (const Expression &e : extents) {
    at.push_back(fresh_step(e));
    n.steps.push_back({at.back()->number, at.back()->integer});
    if (n.steps.back().extent < 0) n.steps.back().open = e;
  }
  n.arguments = {body(at)};
  expect_arithmetic(f, n.arguments[0]);
  if (!finds_a_place(f)) n.type = n.arguments[0].type();
  return interned(std::move(n));
}

Expression rebuilt(const Expression &like, std::vector<Expression> arguments) {
  switch (like->kind) {
    case Expression::Kind::load:
      return like->stage ? load(like->stage, std::move(arguments))
                         : load(like->number, like->type, std::move(arguments));
    case Expression::Kind::call:
      return arguments.size() == 1 ? call(like->function, arguments[0])
                                   : call(like->function, arguments[0], arguments[1]);
    case Expression::Kind::select:
      return select(arguments[0], arguments[1], arguments[2]);
    case Expression::Kind::cast:
      return cast(like->type, arguments[0]);
    case Expression::Kind::bits:
      return bits_as(like->type, arguments[0]);
    case Expression::Kind::reduce: {
      Expression::Node n = *like.get();
      n.arguments = std::move(arguments);
      return interned(std::move(n));
    }
    default:
      return like;
  }
}

bool is_number(const Expression &e, double value) {
  if (e->kind != Expression::Kind::constant || e.type() == Type::boolean) return false;
  return (is_real(e.type()) ? e->real : static_cast<double>(e->integer)) == value;
}

bool is_truth(const Expression &e, bool value) {
  return e->kind == Expression::Kind::constant && e.type() == Type::boolean && (e->integer != 0) == value;
}

double typical_value(const Expression &e) {
  if (e->kind == Expression::Kind::constant) return static_cast<double>(e->integer);
  if (e->kind == Expression::Kind::symbol) return e->real;
  if (e->kind != Expression::Kind::call || e->arguments.size() != 2) return 0;
  const double a = typical_value(e->arguments[0]), b = typical_value(e->arguments[1]);
  switch (e->function) {
    case Function::add:
      return a + b;
    case Function::subtract:
      return a - b;
    case Function::multiply:
      return a * b;
    case Function::quotient:
      return std::floor(a / b);
    case Function::modulo:
      return a - b * std::floor(a / b);
    default:
      return a;
  }
}

void for_each_node(const Expression &e, const std::function<void(const Expression::Node &)> &visit) {
  std::unordered_set<const Expression::Node *> seen;
  const std::function<void(const Expression &)> walk = [&](const Expression &at) {
    if (!seen.insert(at.get()).second) return;
    for (const Expression &a : at->arguments) walk(a);
    visit(*at.get());
  };
  walk(e);
}

void descend(const Expression &e, const std::function<bool(const Expression::Node &)> &enter) {
  std::unordered_set<const Expression::Node *> seen;
  const std::function<void(const Expression &)> walk = [&](const Expression &at) {
    if (!seen.insert(at.get()).second || !enter(*at.get())) return;
    for (const Expression &a : at->arguments) walk(a);
  };
  walk(e);
}

const std::set<int> &StepsRead::of(const Expression &e) {
  const auto known = known_.find(e.get());
  if (known != known_.end()) return known->second;
  std::set<int> all;
  if (e->kind == Expression::Kind::step) all.insert(e->number);
  if (const int other = also_ && e->arguments.empty() ? also_(*e.get()) : nothing; other != nothing) all.insert(other);
  for (const Expression &a : e->arguments) {
    const std::set<int> &inside = of(a);
    all.insert(inside.begin(), inside.end());
  }
  for (const ReductionStep &s : e->steps) all.erase(s.id);
  return known_[e.get()] = std::move(all);
}

Expression transformed(const Expression &e, const std::function<Expression(const Expression &)> &change) {
  std::unordered_map<const Expression::Node *, Expression> done;
  const std::function<Expression(const Expression &)> walk = [&](const Expression &at) -> Expression {
    const auto known = done.find(at.get());
    if (known != done.end()) return known->second;
    Expression result = at;
    if (at->kind != Expression::Kind::step) {
      std::vector<Expression> arguments;
      bool changed = false;
      for (const Expression &a : at->arguments) {
        arguments.push_back(walk(a));
        changed |= !is_same(arguments.back(), a);
      }
      if (changed) result = rebuilt(at, std::move(arguments));
    }
    // What has become a leaf by simplification is changed already.
    const Expression other = result->kind == at->kind ? change(result) : Expression();
    return done[at.get()] = other.defined() ? other : result;
  };
  return walk(e);
}

Expression replaced(const Expression &e, const std::function<Expression(const Expression &leaf)> &replace) {
  return transformed(e, [&](const Expression &at) {
    return at->kind == Expression::Kind::axis || at->kind == Expression::Kind::load ? replace(at) : Expression();
  });
}

Expression with_axes(const Expression &e, const std::vector<Expression> &by) {
  return transformed(e, [&](const Expression &at) {
    return at->kind == Expression::Kind::axis ? by.at(static_cast<size_t>(at->number)) : Expression();
  });
}

Interval bounds(const Expression &index, const std::vector<int64_t> &axes) { return IndexBounds(axes).of(index); }

}  // namespace saltern::formula
