#include "dsl/index_bounds.h"

#include <algorithm>

namespace saltern::formula {

namespace {

constexpr int64_t far = int64_t{1} << 40;  // beyond every index
constexpr Interval anything = {-far, far};

int64_t limited(int64_t v) { return std::clamp(v, -far, far); }

}  // namespace

Interval IndexBounds::of(const Expression &e) {
  const auto known = known_.find(e.get());
  if (known != known_.end()) return known->second;
  Interval i = compute(*e.get());
  i = {limited(i.least), limited(i.greatest)};
  return known_[e.get()] = i;
}

Interval IndexBounds::compute(const Expression::Node &n) {
  switch (n.kind) {
    case Expression::Kind::constant:
      return is_real(n.type) ? anything : Interval{n.integer, n.integer};
    case Expression::Kind::axis:
      return n.number < static_cast<int>(axes_.size()) ? Interval{0, std::max<int64_t>(axes_[n.number] - 1, 0)}
                                                       : anything;
    case Expression::Kind::step:
      return {0, std::max<int64_t>(n.integer - 1, 0)};
    case Expression::Kind::symbol:
      return {n.integer, far};
    case Expression::Kind::select: {
      const Interval a = of(n.arguments[1]), b = of(n.arguments[2]);
      return {std::min(a.least, b.least), std::max(a.greatest, b.greatest)};
    }
    case Expression::Kind::call:
      return n.arguments.size() == 2 && n.type == Type::i64 ? binary(n) : anything;
    default:
      return anything;
  }
}

Interval IndexBounds::binary(const Expression::Node &n) {
  const Interval a = of(n.arguments[0]), b = of(n.arguments[1]);
  const bool positive = b.least == b.greatest && b.least > 0;
  switch (n.function) {
    case Function::add:
      return {a.least + b.least, a.greatest + b.greatest};
    case Function::subtract:
      return {a.least - b.greatest, a.greatest - b.least};
    case Function::multiply: {
      // In 128 bits: both may be 2^40.
      using Wide = __int128;
      const Wide p[] = {Wide(a.least) * b.least, Wide(a.least) * b.greatest, Wide(a.greatest) * b.least,
                        Wide(a.greatest) * b.greatest};
      const auto narrow = [](Wide w) { return static_cast<int64_t>(std::clamp<Wide>(w, -far, far)); };
      return {narrow(*std::min_element(p, p + 4)), narrow(*std::max_element(p, p + 4))};
    }
    case Function::divide:
      return positive ? Interval{a.least / b.least, a.greatest / b.least} : anything;
    case Function::quotient: {
      const auto down = [&](int64_t v) { return (v - (v % b.least + b.least) % b.least) / b.least; };
      return positive ? Interval{down(a.least), down(a.greatest)} : anything;
    }
    case Function::modulo:
      if (!positive) return anything;
      return a.least >= 0 && a.greatest < b.least ? a : Interval{0, b.least - 1};
    case Function::maximum:
      return {std::max(a.least, b.least), std::max(a.greatest, b.greatest)};
    case Function::minimum:
      return {std::min(a.least, b.least), std::min(a.greatest, b.greatest)};
    default:
      return anything;
  }
}

}  // namespace saltern::formula
