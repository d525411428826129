#pragma once
// Whole numbers that depend on extents which only a run knows: sums of products of unknowns, such as 2*n+1 or h*w.
//
// An unknown is an extent of some tensor: 0 or more, and as much as kernels can count. What is told of a quantity holds
// for all of them, or it is not told. Arithmetic on sizes fits into 64 bits, as do the numbers of tensors' elements.
//
// A quantity may also be nothing at all that is known; so is whatever is computed from that, and what would be a sum of
// more terms than anybody reads.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace saltern {

class Quantity {
 public:
  // Extents of a model's inputs are numbered from 0 on, others down from -1.
  using Unknown = int;
  // Kernels count the extents of what callers give in 32 bits. Inside, one may stand for all elements of a tensor, of
  // which there are no more than this (runtime/tensor/tensor.h).
  static constexpr int64_t largest_of_input = std::numeric_limits<int32_t>::max(),
                           largest = std::numeric_limits<int64_t>::max() / 8;

  struct Term {
    std::vector<Unknown> factors;  // in their order; none: the constant
    int64_t coefficient;           // not 0

    bool operator==(const Term &other) const { return factors == other.factors && coefficient == other.coefficient; }
  };

  Quantity() = default;  // not known
  Quantity(int64_t constant) : known_(true), constant_(constant) {}
  static Quantity of(Unknown unknown);

  bool is_known() const { return known_; }
  bool is_constant() const { return known_ && terms_.empty(); }
  bool is(int64_t value) const { return is_constant() && constant_ == value; }
  // The constant, or the constant term.
  int64_t constant() const { return constant_; }
  // All others, in the order of their factors.
  const std::vector<Term> &terms() const { return terms_; }
  bool has_unknown_below(Unknown bound) const;

  // ---- What holds for every size; false or nothing where that cannot be told.
  std::optional<int64_t> least() const;
  std::optional<int64_t> most() const;
  bool is_at_least(int64_t bound) const { return least() && *least() >= bound; }
  bool is_at_most(int64_t bound) const { return most() && *most() <= bound; }

  // ---- Exact, or not known. Numbers that are not known are not equal to any.
  Quantity operator+(const Quantity &other) const;
  Quantity operator-(const Quantity &other) const { return *this + other * Quantity(-1); }
  Quantity operator*(const Quantity &other) const;
  // Rounded down, by a number above 0.
  Quantity divided(int64_t by) const;
  // What is left then: at least 0.
  Quantity remainder(int64_t by) const;
  // q where q * by is this, for a product `by`; what it is where `by` is 0 is not asked.
  Quantity quotient(const Quantity &by) const;
  bool operator==(const Quantity &other) const {
    return known_ && other.known_ && constant_ == other.constant_ && terms_ == other.terms_;
  }
  bool operator!=(const Quantity &other) const { return !(*this == other); }

  // "m+2*n-1"; `names` gives those of unknowns. Empty where one has none, or nothing is known.
  std::string text(const std::vector<std::string> &names) const;

 private:
  void add(const std::vector<Unknown> &factors, int64_t coefficient);

  bool known_ = false;
  int64_t constant_ = 0;
  std::vector<Term> terms_;
};

using Quantities = std::vector<Quantity>;

Quantity product_of(const Quantities &all);

}  // namespace saltern
