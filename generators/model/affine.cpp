#include "generators/model/affine.h"

#include <unordered_map>

namespace saltern::generators {

using formula::Expression;
using formula::Function;
using Kind = Expression::Kind;

namespace {

// Each part of an index once: one that is added to itself again and again has very many terms.
class Terms {
 public:
  explicit Terms(size_t axes) : axes_(axes) {}

  const std::optional<Affine> &of(const Expression &e) {
    const auto known = known_.find(e.get());
    if (known != known_.end()) return known->second;
    std::optional<Affine> a = compute(e);
    return known_[e.get()] = std::move(a);
  }

 private:
  std::optional<Affine> compute(const Expression &e) {
    Affine a;
    a.factors.assign(axes_, 0);
    if (e->kind == Kind::constant) {
      a.constant = e->integer;
      return a;
    }
    if (e->kind == Kind::axis) {
      a.factors.at(static_cast<size_t>(e->number)) = 1;
      return a;
    }
    if (e->kind != Kind::call || e->arguments.size() != 2) return std::nullopt;
    const std::optional<Affine> &left = of(e->arguments[0]), &right = of(e->arguments[1]);
    if (!left || !right) return std::nullopt;
    const auto combined = [&](int64_t of_left, int64_t of_right) {
      a.constant = of_left * left->constant + of_right * right->constant;
      for (size_t d = 0; d < axes_; ++d) a.factors[d] = of_left * left->factors[d] + of_right * right->factors[d];
      return a;
    };
    const auto is_constant = [](const Affine &x) {
      for (int64_t f : x.factors)
        if (f != 0) return false;
      return true;
    };
    if (e->function == Function::add) return combined(1, 1);
    if (e->function == Function::subtract) return combined(1, -1);
    if (e->function != Function::multiply) return std::nullopt;
    if (is_constant(*right)) return combined(right->constant, 0);
    if (is_constant(*left)) return combined(0, left->constant);
    return std::nullopt;
  }

  size_t axes_;
  std::unordered_map<const Expression::Node *, std::optional<Affine>> known_;
};

}  // namespace

std::optional<Affine> affine(const Expression &index, size_t axes) { return Terms(axes).of(index); }

namespace {

Expression expression(const Affine &a) {
  Expression sum;
  for (size_t d = 0; d < a.factors.size(); ++d) {
    if (a.factors[d] == 0) continue;
    const Expression at = formula::axis(static_cast<int>(d)), term = a.factors[d] == 1 ? at : at * a.factors[d];
    sum = sum.defined() ? sum + term : term;
  }
  if (!sum.defined()) return formula::constant_integer(Type::i64, a.constant);
  return a.constant == 0 ? sum : sum + a.constant;
}

}  // namespace

std::optional<std::vector<Expression>> before_reshape(const std::vector<Expression> &indices, const Shape &axes,
                                                      const Shape &to, const Shape &from) {
  // The number of the element in row-major order, which a reshape keeps.
  Affine element;
  element.factors.assign(axes.size(), 0);
  for (size_t d = 0; d < to.size(); ++d) {
    const auto index = affine(indices[d], axes.size());
    if (!index) return std::nullopt;
    element.constant = element.constant * to[d] + index->constant;
    for (size_t a = 0; a < axes.size(); ++a) element.factors[a] = element.factors[a] * to[d] + index->factors[a];
  }
  if (element.constant < 0) return std::nullopt;
  for (size_t a = 0; a < axes.size(); ++a)
    if (axes[a] == 1)
      element.factors[a] = 0;  // never anything but 0
    else if (element.factors[a] < 0)
      return std::nullopt;
  // Its digits are the indices, as long as no sum of them is carried over.
  std::vector<Expression> before(from.size());
  for (size_t d = from.size(); d-- > 0;) {
    Affine index;
    index.constant = element.constant % from[d];
    element.constant /= from[d];
    int64_t greatest = index.constant;
    for (size_t a = 0; a < axes.size(); ++a) {
      index.factors.push_back(element.factors[a] % from[d]);
      element.factors[a] /= from[d];
      greatest += index.factors[a] * (axes[a] - 1);
    }
    if (greatest >= from[d]) return std::nullopt;
    before[d] = expression(index);
  }
  return before;
}

}  // namespace saltern::generators
