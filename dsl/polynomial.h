#pragma once
// Indices as polynomials: a sum of monomials, each a coefficient and a product of atoms. An atom is what is no sum and
// no product: an axis, a size, a quotient, a load.

#include <map>
#include <vector>

#include "dsl/expression.h"

namespace saltern::formula {

class Polynomial {
 public:
  using Atoms = std::vector<Expression>;  // sorted; of none: the constant term
  struct ByAtoms {
    bool operator()(const Atoms &a, const Atoms &b) const;
  };
  using Terms = std::map<Atoms, int64_t, ByAtoms>;

  // What is larger stays as it was written: a stranger's formula may be a power of a sum.
  static constexpr size_t most_terms = 64, most_atoms = 8;

  Polynomial() = default;
  explicit Polynomial(int64_t constant);
  // Reads sums and products of indices; anything else is an atom.
  static Polynomial of(const Expression &e);

  Expression expression() const;
  const Terms &terms() const { return terms_; }
  bool is_constant() const;
  int64_t constant() const;
  bool is_large() const;

  Polynomial operator+(const Polynomial &other) const;
  Polynomial operator-(const Polynomial &other) const;
  Polynomial operator*(const Polynomial &other) const;
  Polynomial times(int64_t factor) const;

  // What `atom` is multiplied by where it stands alone in its power; the rest does not hold it.
  // False where it stands squared, or inside of another atom.
  bool isolate(const Expression &atom, Polynomial &coefficient, Polynomial &rest) const;
  // The terms that `divisor`, one monomial, divides, divided by it; and the others.
  bool divided(const Polynomial &divisor, Polynomial &whole, Polynomial &remainder) const;

  // d (A div d) + A mod d is A.
  Polynomial recombined() const;

 private:
  void add(const Atoms &atoms, int64_t coefficient);
  static bool read(const Expression &e, int &budget, Polynomial &found);

  Terms terms_;
};

}  // namespace saltern::formula
