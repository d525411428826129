#include "runtime/onnx/quantity.h"

#include <limits>

namespace saltern {

using formula::Expression;
using formula::Polynomial;

namespace {

// Kernels count the extents of what callers give in 32 bits. Inside, one may stand for all elements of a tensor, of
// which there are fewer than this (runtime/tensor/tensor.h). The largest value that a symbol can have is its typical one.
constexpr double largest_of_input = std::numeric_limits<int32_t>::max(), largest = int64_t{1} << 60;

bool is_inside(const Expression &unknown) { return unknown->real == largest; }

// The least value, or with a sign of 1 the greatest: where all terms of that sign are as large as they can be, and all
// others 0. Nothing where 64 bits do not hold it.
std::optional<int64_t> extreme(const Polynomial &p, int sign) {
  int64_t all = p.constant();
  for (const auto &[unknowns, c] : p.terms()) {
    if (unknowns.empty() || (c < 0) != (sign < 0)) continue;
    int64_t product = c;
    for (const Expression &u : unknowns)
      if (__builtin_mul_overflow(product, static_cast<int64_t>(u->real), &product)) return std::nullopt;
    if (__builtin_add_overflow(all, product, &all)) return std::nullopt;
  }
  return all;
}

}  // namespace

Quantity::Quantity(Polynomial of) {
  if (!of.is_large()) of_ = std::move(of);
}

Quantity Quantity::of_input(const std::string &name) {
  return Quantity(Polynomial::of(formula::symbol(name, Type::i64, 0, largest_of_input)));
}

Quantity Quantity::unknown(int number) {
  return Quantity(Polynomial::of(formula::symbol("?" + std::to_string(number), Type::i64, 0, largest)));
}

bool Quantity::has_unknown_after(int number) const {
  if (!of_) return false;
  for (const auto &[unknowns, c] : of_->terms())
    for (const Expression &u : unknowns)
      if (is_inside(u) && std::stoi(u->name.substr(1)) > number) return true;
  return false;
}

bool Quantity::is_at_least(int64_t bound) const {
  const auto least = of_ ? extreme(*of_, -1) : std::nullopt;
  return least && *least >= bound;
}

bool Quantity::is_at_most(int64_t bound) const {
  const auto greatest = of_ ? extreme(*of_, 1) : std::nullopt;
  return greatest && *greatest <= bound;
}

Quantity Quantity::operator+(const Quantity &other) const {
  return of_ && other.of_ ? Quantity(*of_ + *other.of_) : Quantity();
}

Quantity Quantity::operator-(const Quantity &other) const {
  return of_ && other.of_ ? Quantity(*of_ - *other.of_) : Quantity();
}

Quantity Quantity::operator*(const Quantity &other) const {
  if (!of_ || !other.of_ || of_->terms().size() * other.of_->terms().size() > Polynomial::most_terms) return {};
  return Quantity(*of_ * *other.of_);
}

Quantity Quantity::divided(int64_t by) const {
  Polynomial whole, rest;
  return of_ && by > 0 && of_->divided(Polynomial(by), whole, rest) && rest.is_constant() ? Quantity(whole)
                                                                                          : Quantity();
}

Quantity Quantity::remainder(int64_t by) const { return *this - divided(by) * by; }

Quantity Quantity::quotient(const Quantity &by) const {
  Polynomial whole, rest;
  return of_ && by.of_ && of_->divided(*by.of_, whole, rest) && rest.terms().empty() ? Quantity(whole) : Quantity();
}

bool Quantity::operator==(const Quantity &other) const {
  return of_ && other.of_ && (*of_ - *other.of_).terms().empty();
}

std::string Quantity::text() const {
  if (!of_) return "";
  std::string all;
  for (const auto &[unknowns, c] : of_->terms()) {
    if (unknowns.empty()) continue;
    const uint64_t size = c < 0 ? -static_cast<uint64_t>(c) : static_cast<uint64_t>(c);
    std::string factors = size == 1 ? "" : std::to_string(size);
    for (const Expression &u : unknowns) {
      const std::string &name = u->name;
      if (name[0] == '?') return "";
      // A name may read as a sum itself.
      const bool alone = size == 1 && unknowns.size() == 1 && of_->terms().size() == 1;
      const bool plain = alone || name.find_first_of("+-*/ ") == std::string::npos;
      factors += (factors.empty() ? "" : "*") + (plain ? name : "(" + name + ")");
    }
    all += (c < 0 ? "-" : all.empty() ? "" : "+") + factors;
  }
  const int64_t rest = constant();
  if (rest != 0 || all.empty()) all += (rest > 0 && !all.empty() ? "+" : "") + std::to_string(rest);
  return all;
}

Quantity product_of(const Quantities &all) {
  Quantity product = 1;
  for (const Quantity &q : all) product = product * q;
  return product;
}

}  // namespace saltern
