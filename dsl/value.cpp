#include "dsl/value.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "dsl/index_arithmetic.h"

namespace saltern::formula {

using Kind = Expression::Kind;

namespace {

bool is_one(const Expression &e) { return is_number(e, 1); }

using Replacements = std::map<Expression, Expression, ByStructure>;

Expression with(const Expression &e, const Replacements &by) {
  return transformed(e, [&](const Expression &n) {
    const auto found = by.find(n);
    return found == by.end() ? Expression() : found->second;
  });
}

Expression extent_of(const ReductionStep &s) { return s.open.defined() ? s.open : Expression(s.extent); }

Expression step_of(const ReductionStep &s) {
  Expression::Node n{Kind::step, Type::i64};
  n.number = s.id;
  n.integer = s.extent;
  if (s.open.defined()) n.arguments = {s.open};
  return interned(std::move(n));
}

// Makes each reduction inside of e a stage of its own, over the steps around it that it depends on, and the axes: all of
// them where no step is around it, with an extent of 1 where it does not depend on one, so that schedules see how it lies
// beside its reader.
Expression with_reductions_apart(const Expression &e, const std::vector<Expression> &extents, int rank) {
  return transformed(e, [&](const Expression &at) -> Expression {
    if (at->kind != Kind::reduce) return {};
    Replacements by;
    for (const ReductionStep &s : at->steps) by[step_of(s)] = {};
    std::vector<Expression> around;
    bool beside = true;
    for_each_node(at->arguments[0], [&](const Expression::Node &n) {
      if (n.kind == Kind::carried)
        throw std::invalid_argument("a scan's element sees one element before, not a sum of them");
      if (n.kind != Kind::axis && n.kind != Kind::step) return;
      const Expression index = n.kind == Kind::axis ? axis(n.number) : interned(n);
      if (!by.emplace(index, Expression()).second) return;
      around.push_back(index);
      beside &= n.kind == Kind::axis && n.number < rank;
    });
    std::sort(around.begin(), around.end(), ByStructure());
    if (beside) {
      const std::vector<Expression> used = std::exchange(around, axes_between(0, rank));
      for (Expression &i : around)
        if (std::none_of(used.begin(), used.end(), [&](const Expression &u) { return is_same(u, i); })) i = 0;
    }
    Stage s;
    s.reduction = at->function;
    s.rank = static_cast<int>(around.size());
    s.name = name(at->function);
    for (const Expression &i : around) {
      if (i->kind != Kind::constant) by[i] = axis(static_cast<int>(s.extents.size()));
      s.extents.push_back(i->kind == Kind::constant ? Expression(1)
                          : i->kind == Kind::axis   ? extents.at(static_cast<size_t>(i->number))
                                                    : extent_of_step(i));
    }
    for (const ReductionStep &step : at->steps) {
      by[step_of(step)] = axis(static_cast<int>(s.extents.size()));
      s.extents.push_back(extent_of(step));
    }
    s.element = with(at->arguments[0], by);
    return stage(std::move(s)).at(around);
  });
}

Expression broadcast(const Value &v, size_t rank) {
  std::vector<Expression> indices;
  const int shift = static_cast<int>(rank) - v.rank();
  for (int d = 0; d < v.rank(); ++d) indices.push_back(is_one(v.extent(d)) ? Expression(0) : axis(d + shift));
  return v.at(indices);
}

std::vector<Expression> common_extents(const Values &values) {
  int rank = 0;
  for (const Value &v : values) rank = std::max(rank, v.rank());
  std::vector<Expression> extents(static_cast<size_t>(rank), Expression(1));
  for (const Value &v : values)
    for (int d = 0; d < v.rank(); ++d) {
      Expression &e = extents[static_cast<size_t>(d + rank - v.rank())];
      const Expression &other = v.extent(d);
      if (is_one(e))
        e = other;
      else if (!is_one(other) && !is_same(e, other) && e->kind == Kind::constant && other->kind == Kind::constant)
        throw std::invalid_argument("extents " + std::to_string(e->integer) + " and " + std::to_string(other->integer) +
                                    " do not broadcast");
    }
  return extents;
}

// Plain numbers in the type of the first that has one.
Values in_one_type(Values values, size_t first) {
  const auto typed = std::find_if(values.begin() + static_cast<std::ptrdiff_t>(first), values.end(),
                                  [](const Value &v) { return !v->literal; });
  if (typed == values.end()) return values;
  for (size_t i = first; i < values.size(); ++i)
    if (values[i]->literal) values[i] = constant_value(typed->type(), values[i]->element->real);
  return values;
}

Value elementwise(const Values &values, const std::function<Expression(const std::vector<Expression> &)> &f) {
  Stage s = shaped("map", common_extents(values));
  std::vector<Expression> elements;
  s.literal = true;
  for (const Value &v : values) {
    elements.push_back(broadcast(v, s.extents.size()));
    s.literal &= v->literal;
  }
  s.element = f(elements);
  s.literal &= s.element->kind == Kind::constant;
  return stage(std::move(s));
}

int counted_from_start(int dimension, int rank) {
  const int d = dimension < 0 ? dimension + rank : dimension;
  if (d < 0 || d >= rank)
    throw std::invalid_argument("dimension " + std::to_string(dimension) + " of a value of rank " +
                                std::to_string(rank));
  return d;
}

}  // namespace

Axes axes_between(int from, int to) {
  Axes axes;
  for (int d = from; d < to; ++d) axes.push_back(axis(d));
  return axes;
}

Stage shaped(const std::string &name, const std::vector<Expression> &extents) {
  Stage s;
  s.name = name;
  s.extents = extents;
  s.rank = static_cast<int>(extents.size());
  return s;
}

Value::Value(double number) : Value(constant_value(Type::f64, number)) {
  Stage s = *stage_;
  s.literal = true;
  *this = stage(std::move(s));
}

Value constant_value(Type type, double number) {
  Stage s = shaped("map", {});
  s.element = constant(type, number);
  return stage(std::move(s));
}

const Expression &Value::extent(int dimension) const {
  return stage_->extents[static_cast<size_t>(counted_from_start(dimension, stage_->rank))];
}

std::vector<Expression> Value::extents() const {
  return {stage_->extents.begin(), stage_->extents.begin() + stage_->rank};
}

Expression Value::at(const std::vector<Expression> &indices) const {
  if (static_cast<int>(indices.size()) != stage_->rank) throw std::invalid_argument("another number of indices");
  if (stage_->kept) return load(stage_, indices);
  return with_axes(stage_->element, indices);
}

Expression Value::or_else(double otherwise, const std::vector<Expression> &indices) const {
  Expression inside = truth(true);
  for (size_t d = 0; d < indices.size(); ++d)
    inside = inside && (0 <= indices[d]) && (indices[d] < extent(static_cast<int>(d)));
  return select(inside, at(indices), constant(stage_->type, otherwise));
}

Value input(const std::string &name, const std::vector<Expression> &extents, Type type) {
  Stage s = shaped(name, extents);
  s.type = type;
  s.kept = true;
  return stage(std::move(s));
}

Value parameter(const std::string &name, Type type, double typical) {
  Stage s = shaped("map", {});
  s.element = symbol(name, type, 0, typical);
  return stage(std::move(s));
}

Value compute(const std::string &name, const std::vector<Expression> &extents, const Element &element) {
  Stage s = shaped(name, extents);
  s.kept = true;
  Expression e = element(axes_between(0, s.rank));
  if (e->kind == Kind::reduce) {
    s.reduction = e->function;
    Replacements by;
    for (const ReductionStep &step : e->steps) {
      by[step_of(step)] = axis(static_cast<int>(s.extents.size()));
      s.extents.push_back(extent_of(step));
    }
    e = with(e->arguments[0], by);
  }
  s.element = with_reductions_apart(e, s.extents, s.rank);
  return stage(std::move(s));
}

Value scan(const std::string &name, const std::vector<Expression> &extents, int along, const Value &before,
           const Next &next) {
  Stage s = shaped(name, extents);
  s.along = counted_from_start(along, s.rank);
  if (before.rank() > s.rank || before->literal)
    throw std::invalid_argument("scan '" + name + "' begins with what has no type, or more dimensions than itself");
  s.before = broadcast(before, extents.size());
  s.element = with_reductions_apart(next(axes_between(0, s.rank), carried(before.type())), s.extents, s.rank);
  return stage(std::move(s));
}

Value inlined(const std::vector<Expression> &extents, const Element &element) {
  Stage s = shaped("map", extents);
  s.element = with_reductions_apart(element(axes_between(0, s.rank)), s.extents, s.rank);
  return stage(std::move(s));
}

Value named(const std::string &name, const Value &v) {
  Stage s = *v.get();
  if (s.is_input()) return v;
  s.name = name;
  s.kept = true;
  s.literal = false;
  return stage(std::move(s));
}

Expression with_operands(const Expression &e, const Values &operands) {
  return transformed(e, [&](const Expression &at) {
    return at->kind == Kind::load && !at->stage ? operands.at(static_cast<size_t>(at->number)).at(at->arguments)
                                                : Expression();
  });
}

Value of_formula(const std::string &name, const Expression &element, const std::vector<Expression> &extents,
                 const Values &operands) {
  return compute(name, extents, [&](const Axes &) { return with_operands(element, operands); });
}

Value map(Function f, const Value &a) {
  return elementwise({a}, [&](const std::vector<Expression> &e) { return call(f, e[0]); });
}
Value map(Function f, const Value &a, const Value &b) {
  return elementwise(in_one_type({a, b}, 0), [&](const std::vector<Expression> &e) { return call(f, e[0], e[1]); });
}
Value where(const Value &condition, const Value &then, const Value &otherwise) {
  return elementwise(in_one_type({condition, then, otherwise}, 1),
                     [](const std::vector<Expression> &e) { return select(e[0], e[1], e[2]); });
}
Value cast(Type type, const Value &a) {
  if (type == a.type() && !a->literal) return a;
  return elementwise({a}, [&](const std::vector<Expression> &e) { return cast(type, e[0]); });
}

Value reduced(Function f, const Value &x, const std::vector<int> &axes) {
  Stage s = shaped(name(f), x.extents());
  s.reduction = f;
  std::vector<Expression> indices = axes_between(0, x.rank());
  std::vector<int> dimensions;
  for (int a : axes) dimensions.push_back(counted_from_start(a, x.rank()));
  std::sort(dimensions.begin(), dimensions.end());
  for (int d : dimensions) {
    indices[static_cast<size_t>(d)] = axis(static_cast<int>(s.extents.size()));
    s.extents.push_back(x.extent(d));
    s.extents[static_cast<size_t>(d)] = 1;
  }
  s.element = x.at(indices);
  return stage(std::move(s));
}

Value mean(const Value &x, const std::vector<int> &axes) {
  Expression count = 1;
  for (int a : axes) count = count * x.extent(a);
  return sum(x, axes) / inlined({}, [&](const Axes &) { return cast(x.type(), count); });
}

Value sum_all(const Value &x) {
  return compute("sum", {}, [&](const Axes &) { return sum(x.extents(), [&](const Axes &r) { return x.at(r); }); });
}

Value split(const Value &x, int along, const Expression &outer, const Expression &inner) {
  const auto a = static_cast<size_t>(counted_from_start(along, x.rank()));
  std::vector<Expression> extents = x.extents();
  extents[a] = outer;
  extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(a) + 1, inner);
  return inlined(extents, [&](Axes at) {
    at[a] = at[a] * inner + at[a + 1];
    at.erase(at.begin() + static_cast<std::ptrdiff_t>(a) + 1);
    return x.at(at);
  });
}

Value merged(const Value &x, int along) {
  const auto a = static_cast<size_t>(counted_from_start(along, x.rank()));
  std::vector<Expression> extents = x.extents();
  const Expression inner = extents.at(a + 1);
  extents[a] = extents[a] * inner;
  extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(a) + 1);
  return inlined(extents, [&](Axes at) {
    const Expression both_parts = at[a];
    at[a] = quotient(both_parts, inner);
    at.insert(at.begin() + static_cast<std::ptrdiff_t>(a) + 1, modulo(both_parts, inner));
    return x.at(at);
  });
}

Value permuted(const Value &x, const std::vector<int> &order) {
  std::vector<Expression> extents;
  for (int d : order) extents.push_back(x.extent(d));
  return inlined(extents, [&](const Axes &to) {
    Axes at(order.size());
    for (size_t d = 0; d < order.size(); ++d) at[static_cast<size_t>(order[d])] = to[d];
    return x.at(at);
  });
}

}  // namespace saltern::formula
