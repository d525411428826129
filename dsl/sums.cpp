#include "dsl/sums.h"

#include <stdexcept>

#include "dsl/structure.h"

namespace saltern::formula {

using Kind = Expression::Kind;

namespace {

void add_factors(const Expression &e, std::vector<Expression> &factors) {
  if (e->kind == Kind::call && e->function == Function::multiply) {
    for (const Expression &factor : e->arguments) add_factors(factor, factors);
  } else if (e->kind == Kind::load && e->stage->is_map() && e->stage->rule) {
    add_factors(with_axes(e->stage->element, e->arguments), factors);
  } else {
    factors.push_back(e);
  }
}

Expression product_of_all(const std::vector<Expression> &factors, Type type) {
  Expression product;
  for (const Expression &f : factors) product = product.defined() ? product * f : f;
  return product.defined() ? product : constant(type, 1);
}

void check_is_sum(const Value &v) {
  if (v->reduction != Function::sum || v->is_scatter()) throw std::invalid_argument("'" + v->name + "' is no sum");
}

}  // namespace

FactoredSum factored(const Value &sum) {
  check_is_sum(sum);
  std::vector<Expression> factors, common, stepped;
  add_factors(sum->element, factors);
  for (const Expression &f : factors) {
    const std::set<int> axes = axes_in(f);
    (axes.empty() || *axes.rbegin() < sum.rank() ? common : stepped).push_back(f);
  }
  Stage rest = *sum.get();
  rest.rule = {};
  rest.element = product_of_all(stepped, sum.type());
  const Expression factor = product_of_all(common, sum.type());
  return {inlined(sum.extents(), [&](const Axes &at) { return with_axes(factor, at); }), stage(std::move(rest))};
}

Value asked_first(const Value &sum) {
  check_is_sum(sum);
  std::vector<Expression> factors;
  add_factors(sum->element, factors);
  Expression condition = truth(true);
  for (Expression &f : factors) {
    if (f->kind != Kind::select || !is_number(f->arguments[2], 0)) continue;
    condition = condition && f->arguments[0];
    f = f->arguments[1];
  }
  Stage s = *sum.get();
  s.rule = {};
  s.element = select(condition, product_of_all(factors, sum.type()), constant(sum.type(), 0));
  return stage(std::move(s));
}

}  // namespace saltern::formula
