#pragma once
// Whole numbers that depend on extents which only a run knows: polynomials of unknowns (dsl/polynomial.h), such as 2 n + 1
// or h w; or not known at all, as is whatever is computed from that, and what would have more terms than anybody reads.
//
// An unknown is an extent of some tensor: 0 or more, and as much as kernels can count. What is told of a quantity holds
// for all of them, or it is not told. Integers wrap round as they do in a run; arithmetic on sizes fits into 64 bits.

#include <cstdint>
#include <optional>
#include <string>

#include "dsl/polynomial.h"

namespace saltern {

class Quantity {
 public:
  Quantity() = default;  // not known
  Quantity(int64_t constant) : of_(formula::Polynomial(constant)) {}
  // An extent of a model's input: those of one name are one. A name that begins with '?' is nobody's.
  static Quantity of_input(const std::string &name);
  // An extent inside of it that is told no more of, by its number.
  static Quantity unknown(int number);

  bool is_known() const { return of_.has_value(); }
  bool is_constant() const { return of_ && of_->is_constant(); }
  bool is(int64_t value) const { return is_constant() && constant() == value; }
  // The constant, or the constant term.
  int64_t constant() const { return of_->constant(); }
  // Whether it depends on an unknown() of a greater number.
  bool has_unknown_after(int number) const;

  // ---- What holds for every size; false where that cannot be told.
  bool is_at_least(int64_t bound) const;
  bool is_at_most(int64_t bound) const;

  // ---- Exact, or not known. Numbers that are not known are not equal to any.
  Quantity operator+(const Quantity &other) const;
  Quantity operator-(const Quantity &other) const;
  Quantity operator*(const Quantity &other) const;
  // Rounded down, by a number above 0; and what is left then, which is at least 0.
  Quantity divided(int64_t by) const;
  Quantity remainder(int64_t by) const;
  // q where q * by is this, for a product `by`; what it is where `by` is 0 is not asked.
  Quantity quotient(const Quantity &by) const;
  bool operator==(const Quantity &other) const;
  bool operator!=(const Quantity &other) const { return !(*this == other); }

  // "m+2*n-1". Empty where an unknown has no name, or nothing is known.
  std::string text() const;

 private:
  explicit Quantity(formula::Polynomial of);

  std::optional<formula::Polynomial> of_;
};

using Quantities = std::vector<Quantity>;

Quantity product_of(const Quantities &all);

}  // namespace saltern
