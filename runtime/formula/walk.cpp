#include "runtime/formula/walk.h"

#include <algorithm>
#include <map>

namespace saltern {

using formula::Expression;
using formula::Function;
using Kind = Expression::Kind;

namespace {

// A sum of axes and steps times constants; false wherever a number outgrows 64 bits.
struct Sum {
  int64_t constant = 0;
  std::map<int, int64_t> axes, steps;

  static bool grow(int64_t &total, int64_t by) { return !__builtin_add_overflow(total, by, &total); }

  // Adds factor * e.
  bool add(const Expression &e, int64_t factor) {
    const Expression::Node &n = *e.get();
    switch (n.kind) {
      case Kind::constant: {
        int64_t product = 0;
        return !__builtin_mul_overflow(factor, n.integer, &product) && grow(constant, product);
      }
      case Kind::axis:
        return grow(axes[n.number], factor);
      case Kind::step:
        return grow(steps[n.number], factor);
      case Kind::call:
        return add_call(n, factor);
      default:
        return false;
    }
  }

  bool add_call(const Expression::Node &n, int64_t factor) {
    int64_t product = 0;
    switch (n.function) {
      case Function::add:
        return add(n.arguments[0], factor) && add(n.arguments[1], factor);
      case Function::subtract:
        return add(n.arguments[0], factor) && add(n.arguments[1], -factor);
      case Function::multiply:
        for (const size_t c : {0, 1})
          if (n.arguments[c]->kind == Kind::constant)
            return !__builtin_mul_overflow(factor, n.arguments[c]->integer, &product) &&
                   add(n.arguments[1 - c], product);
        return false;
      default:
        return false;
    }
  }
};

}  // namespace

std::optional<Walk> walk_of(const Expression::Node &load, const Tensor &operand, const Shape &shape,
                            const Shape &strides, const std::unordered_map<int, int> &slots) {
  Sum sum;
  for (size_t d = 0; d < load.arguments.size(); ++d)
    if (!sum.add(load.arguments[d], operand.strides()[d])) return std::nullopt;
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
