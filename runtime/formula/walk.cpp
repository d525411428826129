#include "runtime/formula/walk.h"

#include <algorithm>
#include <array>

namespace saltern {

using formula::Expression;
using formula::Function;
using Kind = Expression::Kind;

namespace {

bool grow(int64_t &total, int64_t factor, int64_t by) {
  int64_t product = 0;
  return !__builtin_mul_overflow(factor, by, &product) && !__builtin_add_overflow(total, product, &total);
}

}  // namespace

bool IndexSums::Sum::add(const Sum &other, int64_t factor) {
  if (!grow(constant, factor, other.constant)) return false;
  for (const auto &[number, times] : other.axes)
    if (!grow(axes[number], factor, times)) return false;
  for (const auto &[id, times] : other.steps)
    if (!grow(steps[id], factor, times)) return false;
  return true;
}

const std::optional<IndexSums::Sum> &IndexSums::of(const Expression &e) {
  const auto known = known_.find(e.get());
  if (known != known_.end()) return known->second;
  std::optional<Sum> sum = compute(*e.get());
  return known_[e.get()] = std::move(sum);
}

std::optional<IndexSums::Sum> IndexSums::compute(const Expression::Node &n) {
  Sum sum;
  switch (n.kind) {
    case Kind::constant:
      sum.constant = n.integer;
      return sum;
    case Kind::axis:
      sum.axes[n.number] = 1;
      return sum;
    case Kind::step:
      sum.steps[n.number] = 1;
      return sum;
    case Kind::call:
      return call(n);
    default:
      return std::nullopt;
  }
}

std::optional<IndexSums::Sum> IndexSums::call(const Expression::Node &n) {
  std::array<int64_t, 2> factors = {0, 0};  // of the arguments; 0 is left out
  if (n.function == Function::add)
    factors = {1, 1};
  else if (n.function == Function::subtract)
    factors = {1, -1};
  else if (n.function == Function::multiply && n.arguments[0]->kind == Kind::constant)
    factors = {0, n.arguments[0]->integer};
  else if (n.function == Function::multiply && n.arguments[1]->kind == Kind::constant)
    factors = {n.arguments[1]->integer, 0};
  else
    return std::nullopt;
  Sum sum;
  for (size_t a = 0; a < factors.size(); ++a) {
    if (factors[a] == 0) continue;
    const std::optional<Sum> &part = of(n.arguments[a]);
    if (!part || !sum.add(*part, factors[a])) return std::nullopt;
  }
  return sum;
}

std::optional<Walk> walk_of(const Expression::Node &load, const Tensor &operand, const Shape &shape,
                            const Shape &strides, const std::unordered_map<int, int> &slots, IndexSums &sums) {
  IndexSums::Sum sum;
  for (size_t d = 0; d < load.arguments.size(); ++d)
    if (const auto &index = sums.of(load.arguments[d]); !index || !sum.add(*index, operand.strides()[d]))
      return std::nullopt;
  Walk walk;
  walk.start = sum.constant;
  for (const auto &[id, stride] : sum.steps) walk.steps.push_back({slots.at(id), stride});

  std::vector<int> order;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1) order.push_back(static_cast<int>(d));
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return strides[static_cast<size_t>(a)] < strides[static_cast<size_t>(b)]; });
  for (int d : order) {
    const auto of_axis = sum.axes.find(d);
    const Walk::Dimension next = {shape[static_cast<size_t>(d)], of_axis == sum.axes.end() ? 0 : of_axis->second};
    if (!walk.dimensions.empty() && next.stride == walk.dimensions.back().stride * walk.dimensions.back().extent)
      walk.dimensions.back().extent *= next.extent;
    else
      walk.dimensions.push_back(next);
  }
  if (walk.dimensions.empty()) walk.dimensions.push_back({1, 0});
  return walk;
}

}  // namespace saltern
