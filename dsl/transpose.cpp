#include "dsl/transpose.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "dsl/index_arithmetic.h"

namespace saltern::formula {

using Kind = Expression::Kind;

namespace {

struct Equation {
  int dimension;
  Expression left, right;  // of axes, and of unknowns
  bool solved = false;
};

using Unknowns = std::set<Expression, ByStructure>;

Unknowns unknowns(const Expression &e) {
  Unknowns found;
  for_each_node(e, [&](const Expression::Node &at) {
    if (at.kind == Kind::step) found.insert(interned(at));
  });
  return found;
}

// Steps whose range is not known stand with an extent of 0: they have to be solved.
bool is_open(const Expression &step) { return is_number(extent_of_step(step), 0); }

// An unknown that stands alone in its power, with what it is multiplied by.
struct Term {
  Expression unknown;
  Polynomial coefficient, rest;
  bool is_unit() const {
    return coefficient.is_constant() && (coefficient.constant() == 1 || coefficient.constant() == -1);
  }
  double extent() const { return is_open(unknown) ? 1e300 : typical_value(extent_of_step(unknown)); }
};

bool is_negative(const Polynomial &p) { return p.is_constant() && p.constant() < 0; }

class Solver {
 public:
  Solver(const std::vector<Expression> &indices, const std::vector<Expression> &extents,
         const std::vector<Expression> &loaded)
      : extents_(extents), loaded_(loaded) {
    for (const Expression &e : extents) solution_.push_back(fresh_step(e));
    first_ = solution_;
    for (size_t d = 0; d < indices.size(); ++d)
      equations_.push_back({static_cast<int>(d), axis(static_cast<int>(d)), with_axes(indices[d], solution_)});
  }

  Transposed run() {
    while (decide() || single() || window() || rounded()) {
    }
    return result();
  }

 private:
  void substitute(const Expression &unknown, const Expression &by) {
    if (remainders_.count(unknown) > 0) {
      conditions_.push_back(0 <= by);
      conditions_.push_back(by < extent_of_step(unknown));
    }
    const auto put = [&](const Expression &e) {
      return transformed(e, [&](const Expression &at) { return is_same(at, unknown) ? by : Expression(); });
    };
    for (Expression &s : solution_) s = put(s);
    for (Equation &e : equations_) {
      e.left = simplified(put(e.left), loaded_);
      e.right = simplified(put(e.right), loaded_);
    }
    for (Expression &c : conditions_) c = put(c);
  }

  // Equations without unknowns are conditions.
  bool decide() {
    for (Equation &e : equations_) {
      if (e.solved || !unknowns(e.right).empty()) continue;
      e.solved = true;
      if (!is_number(loaded_[static_cast<size_t>(e.dimension)], 1)) conditions_.push_back(e.left == e.right);
      return true;
    }
    return false;
  }

  // The terms of an equation if it holds each of its unknowns as such only.
  bool linear(const Equation &e, std::vector<Term> &terms) const {
    const Polynomial p = Polynomial::of(e.right);
    for (const Expression &u : unknowns(e.right)) {
      Term t{u, {}, {}};
      if (!p.isolate(u, t.coefficient, t.rest) || !unknowns(t.coefficient.expression()).empty()) return false;
      terms.push_back(t);
    }
    return !terms.empty();
  }

  // An equation of one unknown.
  bool single() {
    for (const bool only_units : {true, false})
      for (Equation &e : equations_) {
        std::vector<Term> terms;
        if (e.solved || !linear(e, terms) || terms.size() != 1 || terms[0].is_unit() != only_units) continue;
        solve(e, terms[0]);
        return true;
      }
    return false;
  }

  // c t + rest = left.
  void solve(Equation &e, const Term &t) {
    e.solved = true;
    const Expression rest = t.rest.expression();
    if (t.is_unit()) return substitute(t.unknown, (e.left - rest) * t.coefficient.expression());
    // Divisors are positive: a quotient rounds down.
    const bool down = is_negative(t.coefficient);
    const Expression difference = down ? rest - e.left : e.left - rest;
    const Expression c = (down ? t.coefficient.times(-1) : t.coefficient).expression();
    conditions_.push_back(modulo(difference, c) == 0);
    substitute(t.unknown, quotient(difference, c));
  }

  // An equation of several unknowns.
  bool window() {
    for (Equation &e : equations_) {
      std::vector<Term> terms;
      if (e.solved || !linear(e, terms)) continue;
      std::sort(terms.begin(), terms.end(), [](const Term &a, const Term &b) { return a.extent() > b.extent(); });
      std::vector<Term> units, others;
      for (const Term &t : terms) (t.is_unit() ? units : others).push_back(t);
      if (!units.empty() && !others.empty() && by_stride(e, units[0], others)) return true;
      // The one that would be the longest to step over.
      solve(e, units.empty() ? others[0] : units[0]);
      return true;
    }
    return false;
  }

  // left = sign k + s (...): k = sign u mod s + s j, and (...) = sign (sign u div s - j), where u = left - what is neither.
  bool by_stride(Equation &e, const Term &k, const std::vector<Term> &others) {
    const auto smaller = [](const Term &a, const Term &b) {
      return std::fabs(typical_value(a.coefficient.expression())) <
             std::fabs(typical_value(b.coefficient.expression()));
    };
    const Polynomial &least = std::min_element(others.begin(), others.end(), smaller)->coefficient;
    const Polynomial stride = is_negative(least) ? least.times(-1) : least;
    const int64_t sign = k.coefficient.constant();
    Polynomial multiples, rest;
    if (!k.rest.divided(stride, multiples, rest)) return false;
    // Only what the unknowns are multiplied by goes to the other side: constants stay with u.
    Polynomial of_unknowns;
    for (const Term &t : others) {
      Polynomial whole, left;
      if (!t.coefficient.divided(stride, whole, left) || !left.terms().empty()) return false;
      of_unknowns = of_unknowns + whole * Polynomial::of(t.unknown);
    }
    const Expression s = stride.expression();
    const Polynomial u = (Polynomial::of(e.left) - k.rest + of_unknowns * stride).times(sign);
    const Expression j = fresh_step(quotient(extent_of_step(k.unknown) + s - 1, s));
    const Expression found = modulo(u.expression(), s) + s * j;
    e.left = ((Polynomial::of(quotient(u.expression(), s)) - Polynomial::of(j)).times(sign)).expression();
    e.right = of_unknowns.expression();
    substitute(k.unknown, found);
    return true;
  }

  // left = ... A div d ... or A mod d with an unknown h in A: A = d t + r.
  bool rounded() {
    for (const Equation &e : equations_) {
      if (e.solved) continue;
      Expression found, by;
      for_each_node(e.right, [&](const Expression::Node &at) {
        const bool rounds =
            at.kind == Kind::call && (at.function == Function::quotient || at.function == Function::modulo);
        if (found.defined() || !rounds || !at.is_index || !unknowns(at.arguments[1]).empty()) return;
        const Polynomial inside = Polynomial::of(at.arguments[0]);
        for (const Expression &h : unknowns(at.arguments[0])) {
          Term t{h, {}, {}};
          if (!inside.isolate(h, t.coefficient, t.rest) || !t.is_unit() || is_open(h)) continue;
          // t goes from (what A is beside h) div d, as far as h goes; where that is unknown itself, t must be solved.
          const Expression d = at.arguments[1], beside = t.rest.expression();
          const bool open = !unknowns(beside).empty() || t.coefficient.constant() != 1;
          const Expression last = extent_of_step(h) - 1;
          const Expression whole =
              open ? fresh_step(0)
                   : quotient(beside, d) + fresh_step(quotient(last, d) + (is_number(modulo(beside, d), 0) ? 1 : 2));
          const Expression remainder = fresh_step(d);
          remainders_.insert(remainder);
          found = h;
          by = (d * whole + remainder - beside) * t.coefficient.expression();
          return;
        }
      });
      if (!found.defined()) continue;
      substitute(found, by);
      return true;
    }
    return false;
  }

  static size_t position(const std::vector<Expression> &all, const Expression &one) {
    const auto is_it = [&](const Expression &e) { return is_same(e, one); };
    return static_cast<size_t>(std::find_if(all.begin(), all.end(), is_it) - all.begin());
  }

  Transposed result() const {
    Transposed t;
    std::vector<Expression> steps;
    const auto collect = [&](const Expression &e) {
      for (const Expression &u : unknowns(e))
        if (position(steps, u) == steps.size()) steps.push_back(u);
    };
    for (const Expression &s : solution_) collect(s);
    const int rank = static_cast<int>(loaded_.size());
    std::vector<Expression> extents = loaded_;
    for (const Expression &s : steps) {
      if (is_open(s)) throw std::domain_error("a load whose transpose has an open range");
      t.steps.push_back(extent_of_step(s));
      extents.push_back(extent_of_step(s));
    }
    const auto in_axes = [&](const Expression &e) {
      const Expression by_axes = transformed(e, [&](const Expression &at) {
        const size_t found = at->kind == Kind::step ? position(steps, at) : steps.size();
        return found == steps.size() ? Expression() : axis(rank + static_cast<int>(found));
      });
      return simplified(by_axes, extents);
    };
    t.condition = truth(true);
    for (const Expression &c : conditions_) t.condition = t.condition && in_axes(c);
    for (size_t i = 0; i < solution_.size(); ++i) {
      t.iterators.push_back(in_axes(solution_[i]));
      if (is_same(solution_[i], first_[i])) continue;
      t.condition = t.condition && (0 <= t.iterators[i]) && (t.iterators[i] < extents_[i]);
    }
    t.condition = simplified(t.condition, extents);
    for (const Equation &e : equations_) {
      if (!e.solved && t.targets.empty())
        for (int d = 0; d < rank; ++d) t.targets.push_back(axis(d));
      if (!e.solved) t.targets[static_cast<size_t>(e.dimension)] = in_axes(e.right);
    }
    return t;
  }

  std::vector<Expression> extents_, loaded_, solution_, first_, conditions_;
  std::vector<Equation> equations_;
  Unknowns remainders_;  // less than what they are the remainder of, also when they are solved
};

// Every element is sent where the load read it: right always.
Transposed scattered(const std::vector<Expression> &indices, const std::vector<Expression> &extents) {
  Transposed t;
  const int rank = static_cast<int>(indices.size());
  for (size_t i = 0; i < extents.size(); ++i) t.iterators.push_back(axis(rank + static_cast<int>(i)));
  t.steps = extents;
  t.condition = truth(true);
  for (const Expression &i : indices) t.targets.push_back(with_axes(i, t.iterators));
  return t;
}

}  // namespace

Transposed transposed(const std::vector<Expression> &indices, const std::vector<Expression> &iterator_extents,
                      const std::vector<Expression> &loaded_extents) {
  try {
    return Solver(indices, iterator_extents, loaded_extents).run();
  } catch (const std::domain_error &) {
    return scattered(indices, iterator_extents);
  }
}

}  // namespace saltern::formula
