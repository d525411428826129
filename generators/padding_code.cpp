#include "generators/padding_code.h"

namespace saltern::generators {

using formula::Expression;
using formula::Function;
using formula::Stage;
using Kind = Expression::Kind;

std::vector<Expression> all_of(const Expression &condition) {
  if (condition->kind != Kind::call || condition->function != Function::both) return {condition};
  std::vector<Expression> all = all_of(condition->arguments[0]);
  for (const Expression &c : all_of(condition->arguments[1])) all.push_back(c);
  return all;
}

void ZerosOutside::add(const formula::Value &v, std::set<int> dimensions) {
  const bool all = dimensions.empty();
  for (int d = 0; all && d < v.rank(); ++d) dimensions.insert(d);
  dimensions_[v.get()] = std::move(dimensions);
}

bool ZerosOutside::has(const Stage &s, int dimension) const {
  const auto known = dimensions_.find(&s);
  return known != dimensions_.end() && known->second.count(dimension) > 0;
}

bool ZerosOutside::are_made_of_others(const Stage &s) const {
  if (!s.is_map()) return false;
  const bool asks = s.element->kind == Kind::select && formula::is_number(s.element->arguments[2], 0);
  const Expression &read = asks ? s.element->arguments[1] : s.element;
  if (read->kind != Kind::load || read->stage->rank != s.rank) return false;
  for (int d = 0; d < s.rank; ++d) {
    const auto at = static_cast<size_t>(d);
    const Expression &i = read->arguments[at], &extent = read->stage->extents[at];
    const bool spreads = i->kind == Kind::call && i->function == Function::quotient;
    if (!has(*read->stage, d) || !is_same(spreads ? i->arguments[0] : i, formula::axis(d)) ||
        !is_same(s.extents[at], spreads ? extent * i->arguments[1] : extent))
      return false;
  }
  return true;
}

bool ZerosOutside::is_idle(const Expression &question, const Expression &asked_for) const {
  const std::vector<Expression> &of = asked_for->arguments;
  if (asked_for->kind == Kind::call && asked_for->function == Function::multiply)
    return is_idle(question, of[0]) || is_idle(question, of[1]);
  if (asked_for->kind != Kind::load) return false;
  for (size_t d = 0; d < of.size(); ++d) {
    const bool is_it = is_same(question, 0 <= of[d]) || is_same(question, of[d] < asked_for->stage->extents[d]);
    if (is_it && has(*asked_for->stage, static_cast<int>(d))) return true;
  }
  return false;
}

Expression ZerosOutside::without_idle_questions(const Expression &element) const {
  if (!element.defined() || dimensions_.empty()) return element;
  return formula::transformed(element, [&](const Expression &at) {
    if (at->kind != Kind::select || !formula::is_number(at->arguments[2], 0)) return Expression();
    Expression rest = formula::truth(true);
    for (const Expression &q : all_of(at->arguments[0]))
      if (!is_idle(q, at->arguments[1])) rest = rest && q;
    return formula::is_truth(rest, true) ? at->arguments[1] : select(rest, at->arguments[1], at->arguments[2]);
  });
}

Halide::Func ZerosOutside::around(const Stage &s, const Halide::Func &f,
                                  const std::function<Halide::Expr(const Expression &)> &size) const {
  Halide::Region region;
  for (int d = s.rank; d-- > 0;)
    has(s, d) ? region.emplace_back(0, size(s.extents[static_cast<size_t>(d)])) : region.emplace_back();
  return Halide::BoundaryConditions::constant_exterior(f, Halide::cast(f.types()[0], 0), region);
}

}  // namespace saltern::generators
