#include "dsl/index_arithmetic.h"

#include <algorithm>

namespace saltern::formula {

using Kind = Expression::Kind;

namespace {

int64_t floor_quotient(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

bool is_zero_or_least(int64_t divisor) { return divisor == 0 || divisor == -1; }

// Of a quotient or a modulo. (d A + B) div d = A + B div d, and (d A + B) mod d = B mod d, whatever A and B are.
Expression rounded(Function f, const Expression &b, const Polynomial &p, const Polynomial &q) {
  const bool is_quotient = f == Function::quotient;
  if (p.is_constant() && q.is_constant() && !is_zero_or_least(q.constant())) {
    const int64_t whole = floor_quotient(p.constant(), q.constant());
    return {is_quotient ? whole : p.constant() - whole * q.constant()};
  }
  Polynomial whole, remainder;
  if (!p.divided(q, whole, remainder)) return {};
  if (remainder.terms().empty()) return is_quotient ? whole.expression() : Expression(0);
  if (whole.terms().empty()) return {};
  const Expression rest = call(f, remainder.expression(), b);
  return is_quotient ? whole.expression() + rest : rest;
}

Expression of_indices(Function f, const Expression &a, const Expression &b) {
  const auto small = [](const Polynomial &p) { return p.is_large() ? Expression() : p.expression(); };
  const Polynomial p = Polynomial::of(a), q = Polynomial::of(b);
  const bool numbers = p.is_constant() && q.is_constant();
  switch (f) {
    case Function::add:
      return small((p + q).recombined());
    case Function::subtract:
      return small((p - q).recombined());
    case Function::multiply:
      return p.terms().size() * q.terms().size() > Polynomial::most_terms ? Expression() : small(p * q);
    case Function::quotient:
    case Function::modulo:
      return rounded(f, b, p, q);
    case Function::divide:
      return q.is_constant() && q.constant() == 1 ? a : Expression();
    case Function::maximum:
    case Function::minimum:
      if (is_same(a, b)) return a;
      if (!numbers) return {};
      return {f == Function::maximum ? std::max(p.constant(), q.constant()) : std::min(p.constant(), q.constant())};
    case Function::less:
    case Function::less_equal:
    case Function::equal: {
      const Polynomial difference = q - p;
      if (!difference.is_constant()) return {};
      const int64_t d = difference.constant();
      return truth(f == Function::less ? d > 0 : f == Function::less_equal ? d >= 0 : d == 0);
    }
    default:
      return {};
  }
}

}  // namespace

Expression simple_call(Function f, const Expression &a, const Expression &b) {
  if (a->is_index && b->is_index) return of_indices(f, a, b);
  if (is_number(a, 0) && f == Function::add) return b;
  if (is_number(a, 1) && f == Function::multiply) return b;
  if (is_number(b, 0) && (f == Function::add || f == Function::subtract)) return a;
  if (is_number(b, 1) && (f == Function::multiply || f == Function::divide || f == Function::quotient)) return a;
  return {};
}

std::vector<Expression> parts_of(const Expression &condition) {
  if (!is_call(condition, Function::both)) return {condition};
  std::vector<Expression> parts = parts_of(condition->arguments[0]);
  for (const Expression &p : parts_of(condition->arguments[1])) parts.push_back(p);
  return parts;
}

namespace {

// Least value of a polynomial of sizes, each of which is at least its least: told only if no coefficient is negative.
bool sizes_never_negative(const Polynomial &p) {
  long double least = 0;  // no overflow, and exact where it matters
  for (const auto &[atoms, c] : p.terms()) {
    auto product = static_cast<long double>(c);
    for (const Expression &a : atoms) {
      int64_t smallest = 0;
      if (a->kind == Kind::symbol)
        smallest = a->integer;
      else if (is_call(a, Function::quotient) &&
               sizes_never_negative(Polynomial::of(a->arguments[0]) - Polynomial::of(a->arguments[1])))
        smallest = 1;
      else if (!is_call(a, Function::quotient))
        return false;
      if (c < 0) return false;
      product *= static_cast<long double>(smallest);
    }
    least += product;
  }
  return least >= 0;
}

// -c s (A div s) is at least -c A.
Polynomial without_negative_quotients(const Polynomial &p) {
  Polynomial result;
  for (const auto &[atoms, c] : p.terms()) {
    Polynomial term(c);
    bool replaced = false;
    if (c < 0)
      for (size_t i = 0; i < atoms.size() && !replaced; ++i) {
        if (!is_call(atoms[i], Function::quotient)) continue;
        Polynomial others(c), whole, rest;
        for (size_t j = 0; j < atoms.size(); ++j)
          if (j != i) others = others * Polynomial::of(atoms[j]);
        if (!others.divided(Polynomial::of(atoms[i]->arguments[1]), whole, rest) || !rest.terms().empty()) continue;
        term = whole * Polynomial::of(atoms[i]->arguments[0]);
        replaced = true;
      }
    if (!replaced)
      for (const Expression &a : atoms) term = term * Polynomial::of(a);
    result = result + term;
  }
  return result;
}

// An atom that runs over [0, extent).
struct Range {
  Expression index, extent;
};

// What a quotient runs over: (A div d) with A < d E is below E, for an axis A of extent d E. A quotient of sizes runs over
// nothing; of others it may be unknown.
Range range_of_quotient(const Expression &a, const std::vector<Expression> &extents, bool &unknown) {
  bool of_axes = false;
  for_each_node(a->arguments[0], [&](const Expression::Node &n) { of_axes |= n.kind == Kind::axis; });
  if (!of_axes) return {};
  Polynomial whole, rest;
  unknown = a->arguments[0]->kind != Kind::axis ||
            !Polynomial::of(extents.at(static_cast<size_t>(a->arguments[0]->number)))
                 .divided(Polynomial::of(a->arguments[1]), whole, rest) ||
            !rest.terms().empty();
  return unknown ? Range() : Range{a, whole.expression()};
}

}  // namespace

Expression assuming(const Expression &condition, const Expression &e) {
  const std::vector<Expression> parts = parts_of(condition);
  return transformed(e, [&](const Expression &at) {
    const bool holds = std::any_of(parts.begin(), parts.end(), [&](const Expression &p) { return is_same(p, at); });
    return holds ? truth(true) : Expression();
  });
}

// Axes and steps are put at the end of their range that makes it least, one after the other; sizes are left.
bool never_negative(const Polynomial &e, const std::vector<Expression> &extents) {
  constexpr int most_rounds = 12;
  Polynomial p = e;
  for (int round = 0; round < most_rounds; ++round) {
    Range found;
    for (const auto &[atoms, c] : p.terms())
      for (const Expression &a : atoms) {
        if (a->kind == Kind::axis) {
          found = {a, extents.at(static_cast<size_t>(a->number))};
        } else if (a->kind == Kind::step) {
          found = {a, extent_of_step(a)};
          if (is_number(found.extent, 0)) return false;  // an open range
        } else if (is_call(a, Function::modulo)) {
          found = {a, a->arguments[1]};
        } else if (is_call(a, Function::quotient)) {
          bool unknown = false;
          const Range r = range_of_quotient(a, extents, unknown);
          if (r.index.defined()) found = r;
          if (!unknown) continue;
          // Not negative at least, which helps where it is added.
          if (c < 0 || atoms.size() != 1 || !never_negative(Polynomial::of(a->arguments[0]), extents)) return false;
          found = {a, Expression(1)};
        }
      }
    if (!found.index.defined()) return sizes_never_negative(p) || sizes_never_negative(without_negative_quotients(p));
    Polynomial coefficient, rest;
    if (!p.isolate(found.index, coefficient, rest)) return false;
    if (sizes_never_negative(coefficient))
      p = rest;
    else if (sizes_never_negative(coefficient.times(-1)))
      p = rest + coefficient * (Polynomial::of(found.extent) - Polynomial(1));
    else
      return false;
  }
  return false;
}

bool always_inside(const Expression &index, const Expression &extent, const std::vector<Expression> &extents) {
  const Polynomial i = Polynomial::of(index);
  return never_negative(i, extents) && never_negative(Polynomial::of(extent) - i - Polynomial(1), extents);
}

Expression simplified(const Expression &e, const std::vector<Expression> &extents) {
  return transformed(e, [&](const Expression &at) -> Expression {
    if (at->kind == Kind::axis && is_number(extents.at(static_cast<size_t>(at->number)), 1)) return {0};
    if (at->kind == Kind::step && is_number(extent_of_step(at), 1)) return {0};
    if (at->kind != Kind::call || at->arguments.size() != 2 || !at->arguments[0]->is_index ||
        !at->arguments[1]->is_index)
      return {};
    const Polynomial a = Polynomial::of(at->arguments[0]), b = Polynomial::of(at->arguments[1]);
    const auto holds = [&](const Polynomial &p) { return never_negative(p, extents); };
    switch (at->function) {
      case Function::less:
        if (holds(b - a - Polynomial(1))) return truth(true);
        return holds(a - b) ? truth(false) : Expression();
      case Function::less_equal:
        if (holds(b - a)) return truth(true);
        return holds(a - b - Polynomial(1)) ? truth(false) : Expression();
      case Function::quotient:
        return holds(a) && holds(b - a - Polynomial(1)) ? Expression(0) : Expression();
      case Function::modulo:
        return holds(a) && holds(b - a - Polynomial(1)) ? at->arguments[0] : Expression();
      default:
        return {};
    }
  });
}

}  // namespace saltern::formula
