#include "dsl/polynomial.h"

#include <algorithm>

#include "dsl/index_arithmetic.h"

namespace saltern::formula {

using Kind = Expression::Kind;

namespace {

bool holds(const Expression &e, const Expression &part) {
  bool found = false;
  for_each_node(e, [&](const Expression::Node &at) { found |= &at == part.get(); });
  return found;
}

// Sums and products that are in simple form by construction.
Expression plain(Function f, const Expression &a, const Expression &b) {
  Expression::Node n{Kind::call, Type::i64, f};
  n.arguments = {a, b};
  return interned(std::move(n));
}

int64_t wrapped_sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t wrapped_product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

}  // namespace

// As one writes polynomials: first those of more atoms, which are numbers times strides of indices.
bool Polynomial::ByAtoms::operator()(const Atoms &a, const Atoms &b) const {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), ByStructure());
}

Polynomial::Polynomial(int64_t constant) { add({}, constant); }

void Polynomial::add(const Atoms &atoms, int64_t coefficient) {
  if (coefficient == 0) return;
  int64_t &sum = terms_[atoms];
  sum = wrapped_sum(sum, coefficient);
  if (sum == 0) terms_.erase(atoms);
}

// False where that would take too long.
bool Polynomial::read(const Expression &e, int &budget, Polynomial &found) {
  if (--budget < 0) return false;
  if (e->kind == Kind::constant && e.type() == Type::i64) {
    found = Polynomial(e->integer);
    return true;
  }
  const bool is_sum = is_call(e, Function::add), is_difference = is_call(e, Function::subtract);
  if (e->is_index && (is_sum || is_difference || is_call(e, Function::multiply))) {
    Polynomial a, b;
    if (!read(e->arguments[0], budget, a) || !read(e->arguments[1], budget, b)) return false;
    if (!is_sum && !is_difference && a.terms_.size() * b.terms_.size() > most_terms) return false;
    found = is_sum ? a + b : is_difference ? a - b : a * b;
    return !found.is_large();
  }
  found = {};
  found.add({e}, 1);
  return true;
}

Polynomial Polynomial::of(const Expression &e) {
  int budget = 4 * static_cast<int>(most_terms);
  Polynomial p;
  if (read(e, budget, p)) return p;
  p = {};
  p.add({e}, 1);
  return p;
}

bool Polynomial::is_large() const {
  return terms_.size() > most_terms ||
         std::any_of(terms_.begin(), terms_.end(), [](const auto &term) { return term.first.size() > most_atoms; });
}

Expression Polynomial::expression() const {
  Expression positive, negative;
  uint64_t constant = 0;
  for (const auto &[atoms, coefficient] : terms_) {
    if (atoms.empty()) {
      constant = static_cast<uint64_t>(coefficient);
      continue;
    }
    Expression product;
    for (const Expression &a : atoms) product = product.defined() ? plain(Function::multiply, product, a) : a;
    const uint64_t size = coefficient < 0 ? 0 - static_cast<uint64_t>(coefficient) : static_cast<uint64_t>(coefficient);
    if (size != 1) product = plain(Function::multiply, product, Expression(static_cast<int64_t>(size)));
    Expression &side = coefficient < 0 ? negative : positive;
    side = side.defined() ? plain(Function::add, side, product) : product;
  }
  const auto number = static_cast<int64_t>(constant);
  if (!positive.defined()) {
    if (!negative.defined()) return {number};
    return plain(Function::subtract, number, negative);
  }
  if (number > 0) positive = plain(Function::add, positive, number);
  if (number < 0) positive = plain(Function::subtract, positive, static_cast<int64_t>(0 - constant));
  return negative.defined() ? plain(Function::subtract, positive, negative) : positive;
}

bool Polynomial::is_constant() const { return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty()); }
int64_t Polynomial::constant() const {
  const auto found = terms_.find({});
  return found == terms_.end() ? 0 : found->second;
}

Polynomial Polynomial::operator+(const Polynomial &other) const {
  Polynomial p = *this;
  for (const auto &[atoms, c] : other.terms_) p.add(atoms, c);
  return p;
}
Polynomial Polynomial::operator-(const Polynomial &other) const { return *this + other.times(-1); }
Polynomial Polynomial::times(int64_t factor) const {
  Polynomial p;
  for (const auto &[atoms, c] : terms_) p.add(atoms, wrapped_product(c, factor));
  return p;
}
Polynomial Polynomial::operator*(const Polynomial &other) const {
  Polynomial p;
  for (const auto &[a, c] : terms_)
    for (const auto &[b, d] : other.terms_) {
      Atoms atoms = a;
      atoms.insert(atoms.end(), b.begin(), b.end());
      std::sort(atoms.begin(), atoms.end(), ByStructure());
      p.add(atoms, wrapped_product(c, d));
    }
  return p;
}

bool Polynomial::isolate(const Expression &atom, Polynomial &coefficient, Polynomial &rest) const {
  coefficient = rest = {};
  for (const auto &[atoms, c] : terms_) {
    Atoms others;
    int count = 0;
    for (const Expression &a : atoms) {
      if (is_same(a, atom))
        ++count;
      else if (holds(a, atom))
        return false;
      else
        others.push_back(a);
    }
    if (count > 1) return false;
    (count == 1 ? coefficient : rest).add(others, c);
  }
  return true;
}

bool Polynomial::divided(const Polynomial &divisor, Polynomial &whole, Polynomial &remainder) const {
  whole = remainder = {};
  if (divisor.terms_.size() != 1) return false;
  const auto &[by, d] = *divisor.terms_.begin();
  if (d == -1) return false;  // the least integer is no multiple of it
  for (const auto &[atoms, c] : terms_) {
    Atoms left = atoms;
    bool divides = c % d == 0;
    for (const Expression &a : by) {
      const auto found = std::find_if(left.begin(), left.end(), [&](const Expression &l) { return is_same(l, a); });
      if (found == left.end())
        divides = false;
      else
        left.erase(found);
    }
    if (divides) {
      whole.add(left, c / d);
    } else if (by.empty() && d > 1 && atoms.empty()) {
      // A number leaves what is left of it.
      const int64_t rest = ((c % d) + d) % d;
      whole.add({}, (c - rest) / d);
      remainder.add({}, rest);
    } else {
      remainder.add(atoms, c);
    }
  }
  return true;
}

Polynomial Polynomial::recombined() const {
  for (const auto &[atoms, c] : terms_)
    for (size_t i = 0; i < atoms.size(); ++i) {
      if (!is_call(atoms[i], Function::modulo)) continue;
      const Expression a = atoms[i]->arguments[0], d = atoms[i]->arguments[1];
      Polynomial others(c);
      for (size_t j = 0; j < atoms.size(); ++j)
        if (j != i) others = others * of(atoms[j]);
      const Polynomial remainder = others * of(atoms[i]), whole = others * of(d) * of(quotient(a, d));
      const Polynomial without = *this - remainder - whole;
      if (without.terms_.size() < terms_.size() - 1) return (without + others * of(a)).recombined();
    }
  return *this;
}

}  // namespace saltern::formula
