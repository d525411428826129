#include "dsl/expression.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <stdexcept>
#include <unordered_map>

#include "dsl/index_bounds.h"

namespace saltern::formula {

namespace {

struct FunctionFacts {
  std::string name;
  int operands;
};

const std::array<FunctionFacts, 50> &function_table() {
  static const std::array<FunctionFacts, 50> table = {{
      {"negate", 1},     {"absolute", 1},       {"exp", 1},           {"log", 1},         {"sqrt", 1},
      {"sine", 1},       {"cosine", 1},         {"tangent", 1},       {"arcsine", 1},     {"arccosine", 1},
      {"arctangent", 1}, {"sinh", 1},           {"cosh", 1},          {"tanh", 1},        {"arcsinh", 1},
      {"arccosh", 1},    {"arctanh", 1},        {"erf", 1},           {"floor", 1},       {"ceiling", 1},
      {"round", 1},      {"truncate", 1},       {"invert", 1},        {"is_nan", 1},      {"is_infinite", 1},
      {"add", 2},        {"subtract", 2},       {"multiply", 2},      {"divide", 2},      {"remainder", 2},
      {"modulo", 2},     {"power", 2},          {"maximum", 2},       {"minimum", 2},     {"less", 2},
      {"less_equal", 2}, {"equal", 2},          {"both", 2},          {"either", 2},      {"differ", 2},
      {"shift_left", 2}, {"shift_right", 2},    {"sum", 0},           {"product", 0},     {"greatest", 0},
      {"least", 0},      {"first_greatest", 0}, {"last_greatest", 0}, {"first_least", 0}, {"last_least", 0},
  }};
  return table;
}

Expression made(Expression::Node node) { return Expression(std::make_shared<const Expression::Node>(std::move(node))); }

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

bool finds_a_place(Function f) { return f >= Function::first_greatest; }

std::atomic<int> next_step{0};

const int64_t *constant_index(const Expression &e) {
  return e->kind == Expression::Kind::constant && e.type() == Type::i64 ? &e->integer : nullptr;
}

// Index arithmetic with constants is done at once; undefined where there is nothing to do.
Expression simplified_index(Function f, const Expression &a, const Expression &b) {
  const int64_t *p = constant_index(a), *q = constant_index(b);
  if (p && q) {
    // What overflows wraps round, as it does when a formula runs.
    const auto left = static_cast<uint64_t>(*p), right = static_cast<uint64_t>(*q);
    const auto wrapped = [](uint64_t i) { return constant_integer(Type::i64, static_cast<int64_t>(i)); };
    if (f == Function::add) return wrapped(left + right);
    if (f == Function::subtract) return wrapped(left - right);
    if (f == Function::multiply) return wrapped(left * right);
  }
  if (p && *p == 0 && f == Function::add) return b;
  if (p && *p == 1 && f == Function::multiply) return b;
  if (q && *q == 0 && (f == Function::add || f == Function::subtract)) return a;
  if (q && *q == 1 && (f == Function::multiply || f == Function::divide)) return a;
  return {};
}

}  // namespace

const std::string &name(Function f) { return function_table()[static_cast<size_t>(f)].name; }
int operand_count(Function f) { return function_table()[static_cast<size_t>(f)].operands; }

Expression constant(Type type, double value) {
  Expression::Node n{Expression::Kind::constant, type};
  if (is_real(type))
    n.real = value;
  else
    n.integer = static_cast<int64_t>(value);
  return made(std::move(n));
}

Expression constant_integer(Type type, int64_t value) {
  if (is_real(type)) return constant(type, static_cast<double>(value));
  Expression::Node n{Expression::Kind::constant, type};
  n.integer = value;
  return made(std::move(n));
}

Expression axis(int number) {
  Expression::Node n{Expression::Kind::axis, Type::i64};
  n.number = number;
  return made(std::move(n));
}

Expression load(int operand, Type type, std::vector<Expression> indices) {
  for (const Expression &i : indices)
    if (!i.defined() || i.type() != Type::i64) throw std::invalid_argument("formula: an index is not i64");
  Expression::Node n{Expression::Kind::load, type};
  n.number = operand;
  n.arguments = std::move(indices);
  return made(std::move(n));
}

Expression call(Function f, const Expression &a) {
  if (operand_count(f) != 1) refuse(f, "does not take one operand");
  expect_arithmetic(f, a);
  Expression::Node n{Expression::Kind::call, gives_boolean(f) ? Type::boolean : a.type(), f};
  n.arguments = {a};
  return made(std::move(n));
}

Expression call(Function f, const Expression &a, const Expression &b) {
  if (operand_count(f) != 2) refuse(f, "does not take two operands");
  expect_arithmetic(f, a);
  expect_arithmetic(f, b);
  if (a.type() != b.type())
    refuse(f, "of " + std::string(facts(a.type()).name) + " and " + std::string(facts(b.type()).name));
  if (const Expression simple = simplified_index(f, a, b); simple.defined()) return simple;
  Expression::Node n{Expression::Kind::call, gives_boolean(f) ? Type::boolean : a.type(), f};
  n.arguments = {a, b};
  return made(std::move(n));
}

Expression select(const Expression &condition, const Expression &then, const Expression &otherwise) {
  if (condition.type() != Type::boolean) throw std::invalid_argument("formula: select: the condition is not a boolean");
  if (then.type() != otherwise.type())
    throw std::invalid_argument("formula: select: of " + std::string(facts(then.type()).name) + " and " +
                                std::string(facts(otherwise.type()).name));
  Expression::Node n{Expression::Kind::select, then.type()};
  n.arguments = {condition, then, otherwise};
  return made(std::move(n));
}

Expression cast(Type type, const Expression &a) {
  if (type == a.type()) return a;
  if (type == Type::text || a.type() == Type::text) throw std::invalid_argument("formula: cast of a text");
  Expression::Node n{Expression::Kind::cast, type};
  n.arguments = {a};
  return made(std::move(n));
}

Expression bits_as(Type type, const Expression &a) {
  if (facts(type).bits != facts(a.type()).bits) throw std::invalid_argument("formula: bits_as of another size");
  Expression::Node n{Expression::Kind::bits, type};
  n.arguments = {a};
  return made(std::move(n));
}

Expression reduce(Function f, const std::vector<int64_t> &extents,
                  const std::function<Expression(const std::vector<Expression> &)> &body) {
  if (operand_count(f) != 0) refuse(f, "is not a reduction");
  Expression::Node n{Expression::Kind::reduce, Type::i64, f};
  std::vector<Expression> at;
  for (int64_t e : extents) {
    n.steps.push_back({next_step++, e});
    Expression::Node s{Expression::Kind::step, Type::i64};
    s.number = n.steps.back().id;
    s.integer = e;
    at.push_back(made(std::move(s)));
  }
  n.arguments = {body(at)};
  expect_arithmetic(f, n.arguments[0]);
  if (!finds_a_place(f)) n.type = n.arguments[0].type();
  return made(std::move(n));
}

void for_each_node(const Expression &e, const std::function<void(const Expression::Node &)> &visit) {
  std::unordered_map<const Expression::Node *, bool> seen;
  const std::function<void(const Expression &)> walk = [&](const Expression &at) {
    if (!seen.emplace(at.get(), true).second) return;
    for (const Expression &a : at->arguments) walk(a);
    visit(*at.get());
  };
  walk(e);
}

Expression replaced(const Expression &e, const std::function<Expression(const Expression &leaf)> &replace) {
  std::unordered_map<const Expression::Node *, Expression> done;
  const std::function<Expression(const Expression &)> walk = [&](const Expression &at) -> Expression {
    const auto known = done.find(at.get());
    if (known != done.end()) return known->second;
    std::vector<Expression> arguments;
    bool changed = false;
    for (const Expression &a : at->arguments) {
      arguments.push_back(walk(a));
      changed |= arguments.back().get() != a.get();
    }
    Expression result = at;
    if (changed) {
      Expression::Node n = *at.get();
      n.arguments = std::move(arguments);
      result = made(std::move(n));
    }
    if (at->kind == Expression::Kind::axis || at->kind == Expression::Kind::load)
      if (const Expression other = replace(result); other.defined()) result = other;
    return done[at.get()] = result;
  };
  return walk(e);
}

Interval bounds(const Expression &index, const std::vector<int64_t> &axes) { return IndexBounds(axes).of(index); }

}  // namespace saltern::formula
