#include "runtime/onnx/quantity.h"

#include <algorithm>

namespace saltern {

namespace {

constexpr size_t most_terms = 24, most_factors = 8;

// The rest of a division that rounds down.
int64_t rest_of(int64_t a, int64_t by) { return a % by < 0 ? a % by + by : a % by; }

// As far as they fit.
std::optional<int64_t> sum(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t c = 0;
  return a && b && !__builtin_add_overflow(*a, *b, &c) ? std::optional(c) : std::nullopt;
}

std::optional<int64_t> product(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t c = 0;
  return a && b && !__builtin_mul_overflow(*a, *b, &c) ? std::optional(c) : std::nullopt;
}

// The largest that the term's factors multiply to.
std::optional<int64_t> largest_product(const Quantity::Term &t) {
  std::optional<int64_t> all = 1;
  for (const Quantity::Unknown u : t.factors)
    all = product(all, u < 0 ? Quantity::largest : Quantity::largest_of_input);
  return all;
}

}  // namespace

Quantity Quantity::of(Unknown unknown) {
  Quantity q(0);
  q.terms_.push_back({{unknown}, 1});
  return q;
}

bool Quantity::has_unknown_below(Unknown bound) const {
  return std::any_of(terms_.begin(), terms_.end(), [&](const Term &t) {
    return std::any_of(t.factors.begin(), t.factors.end(), [&](Unknown u) { return u < bound; });
  });
}

void Quantity::add(const std::vector<Unknown> &factors, int64_t coefficient) {
  if (!known_ || coefficient == 0) return;
  int64_t *number = &constant_;
  auto at = terms_.end();
  if (!factors.empty()) {
    at = std::lower_bound(terms_.begin(), terms_.end(), factors,
                          [](const Term &t, const std::vector<Unknown> &f) { return t.factors < f; });
    if (at == terms_.end() || at->factors != factors) at = terms_.insert(at, {factors, 0});
    number = &at->coefficient;
  }
  if (__builtin_add_overflow(*number, coefficient, number) || terms_.size() > most_terms ||
      factors.size() > most_factors)
    *this = Quantity();
  else if (!factors.empty() && *number == 0)
    terms_.erase(at);
}

Quantity Quantity::operator+(const Quantity &other) const {
  if (!known_ || !other.known_) return {};
  Quantity all = *this;
  all.add({}, other.constant_);
  for (const Term &t : other.terms_) all.add(t.factors, t.coefficient);
  return all;
}

Quantity Quantity::operator*(const Quantity &other) const {
  if (!known_ || !other.known_) return {};
  const auto all_terms = [](const Quantity &q) {
    std::vector<Term> all = q.terms_;
    if (q.constant_ != 0) all.push_back({{}, q.constant_});
    return all;
  };
  Quantity all(0);
  for (const Term &a : all_terms(*this))
    for (const Term &b : all_terms(other)) {
      std::vector<Unknown> factors;
      std::merge(a.factors.begin(), a.factors.end(), b.factors.begin(), b.factors.end(), std::back_inserter(factors));
      int64_t coefficient = 0;
      if (__builtin_mul_overflow(a.coefficient, b.coefficient, &coefficient)) return {};
      all.add(factors, coefficient);
      if (!all.known_) return {};
    }
  return all;
}

std::optional<int64_t> Quantity::least() const {
  if (!known_) return std::nullopt;
  std::optional<int64_t> all = constant_;
  for (const Term &t : terms_)
    if (t.coefficient < 0) all = sum(all, product(t.coefficient, largest_product(t)));
  return all;
}

std::optional<int64_t> Quantity::most() const {
  if (!known_) return std::nullopt;
  std::optional<int64_t> all = constant_;
  for (const Term &t : terms_)
    if (t.coefficient > 0) all = sum(all, product(t.coefficient, largest_product(t)));
  return all;
}

Quantity Quantity::remainder(int64_t by) const {
  if (!known_ || by <= 0) return {};
  for (const Term &t : terms_)
    if (t.coefficient % by != 0) return {};
  return rest_of(constant_, by);
}

Quantity Quantity::divided(int64_t by) const {
  const Quantity rest = remainder(by);
  return rest.is_known() ? (*this - rest).quotient(by) : rest;
}

Quantity Quantity::quotient(const Quantity &by) const {
  if (!known_ || !by.known_ || by.is(0) || by.terms_.size() + (by.constant_ != 0 ? 1 : 0) != 1) return {};
  const Term whole = by.terms_.empty() ? Term{{}, by.constant_} : by.terms_[0];
  Quantity all(0);
  const auto divide = [&](const Term &t) {
    if ((whole.coefficient == -1 && t.coefficient == INT64_MIN) || t.coefficient % whole.coefficient != 0 ||
        !std::includes(t.factors.begin(), t.factors.end(), whole.factors.begin(), whole.factors.end()))
      return false;
    std::vector<Unknown> left;
    std::set_difference(t.factors.begin(), t.factors.end(), whole.factors.begin(), whole.factors.end(),
                        std::back_inserter(left));
    all.add(left, t.coefficient / whole.coefficient);
    return true;
  };
  if (constant_ != 0 && !divide({{}, constant_})) return {};
  for (const Term &t : terms_)
    if (!divide(t)) return {};
  return all;
}

std::string Quantity::text(const std::vector<std::string> &names) const {
  if (!known_) return "";
  std::string all;
  for (const Term &t : terms_) {
    const uint64_t size =
        t.coefficient < 0 ? -static_cast<uint64_t>(t.coefficient) : static_cast<uint64_t>(t.coefficient);
    std::string factors = size == 1 ? "" : std::to_string(size);
    for (const Unknown u : t.factors) {
      const std::string name = u < 0 ? "" : names.at(static_cast<size_t>(u));
      if (name.empty()) return "";
      // A name may read as a sum itself.
      const bool alone = size == 1 && t.factors.size() == 1 && terms_.size() == 1 && constant_ == 0;
      const bool plain = alone || name.find_first_of("+-*/ ") == std::string::npos;
      factors += (factors.empty() ? "" : "*") + (plain ? name : "(" + name + ")");
    }
    all += (t.coefficient < 0 ? "-" : all.empty() ? "" : "+") + factors;
  }
  if (constant_ != 0 || all.empty()) all += (constant_ > 0 && !all.empty() ? "+" : "") + std::to_string(constant_);
  return all;
}

Quantity product_of(const Quantities &all) {
  Quantity product = 1;
  for (const Quantity &q : all) product = product * q;
  return product;
}

}  // namespace saltern
