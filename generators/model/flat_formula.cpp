#include "generators/model/flat_formula.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "generators/model/emitters.h"

namespace saltern::generators {

namespace {

using formula::Expression;
using formula::ReductionStep;
using Kind = Expression::Kind;

// What an index runs over: an axis of the result, or a step of a reduction by its id.
struct Iterator {
  bool is_step;
  int number;
  bool operator<(const Iterator &o) const { return std::tie(is_step, number) < std::tie(o.is_step, o.number); }
  bool operator==(const Iterator &o) const { return is_step == o.is_step && number == o.number; }
};

bool is_iterator(const Expression &e) { return e->kind == Kind::axis || e->kind == Kind::step; }
Iterator iterator(const Expression &e) { return {e->kind == Kind::step, e->number}; }

Expression step(const ReductionStep &s) {
  Expression::Node n{Kind::step, Type::i64};
  n.number = s.id;
  n.integer = s.extent;
  return formula::interned(std::move(n));
}

// The same expression with other leaves and steps, each of its nodes changed once.
struct Change {
  std::function<Expression(const Iterator &)> iterator;
  std::function<Expression(const Expression::Node &load, const std::vector<Expression> &indices)> load;
  std::function<std::vector<ReductionStep>(const std::vector<ReductionStep> &)> steps;
};

class Changer {
 public:
  explicit Changer(const Change &change) : change_(change) {}

  Expression operator()(const Expression &e) {
    const auto known = done_.find(e.get());
    if (known != done_.end()) return known->second;
    return done_[e.get()] = changed(e);
  }

 private:
  Expression changed(const Expression &e) {
    if (is_iterator(e)) return change_.iterator(iterator(e));
    std::vector<Expression> arguments;
    for (const Expression &a : e->arguments) arguments.push_back((*this)(a));
    if (e->kind == Kind::load) return change_.load(*e.get(), arguments);
    Expression::Node n = *e.get();
    n.arguments = std::move(arguments);
    n.steps = change_.steps(n.steps);
    return formula::interned(std::move(n));
  }

  const Change &change_;
  std::unordered_map<const Expression::Node *, Expression> done_;
};

// ---- In the order of memory, without extents of 1.

// The dimensions of a value that have several elements, the outermost first.
std::vector<int> long_dimensions(const Graph::Value &v) {
  std::vector<int> order = memory_order(v);
  std::reverse(order.begin(), order.end());
  order.erase(std::remove_if(order.begin(), order.end(), [&](int d) { return v.shape[static_cast<size_t>(d)] == 1; }),
              order.end());
  return order;
}

Graph::Value in_memory_order(const Graph::Value &v) {
  Graph::Value flat = {{}, v.type, {}};
  for (int d : long_dimensions(v)) flat.shape.push_back(v.shape[static_cast<size_t>(d)]);
  return flat;
}

FlatFormula in_memory_order(const Expression &element, const Graph::Value &result,
                            const std::vector<Graph::Value> &operands) {
  const std::vector<int> axes = long_dimensions(result);
  std::map<int, int64_t> extents;  // of steps
  formula::for_each_node(element, [&](const Expression::Node &n) {
    for (const ReductionStep &s : n.steps) extents[s.id] = s.extent;
  });
  const Change change = {[&](const Iterator &i) {
                           if (i.is_step)
                             return extents.at(i.number) == 1 ? formula::constant_integer(Type::i64, 0)
                                                              : step({i.number, extents.at(i.number)});
                           const auto at = std::find(axes.begin(), axes.end(), i.number);
                           return at == axes.end() ? formula::constant_integer(Type::i64, 0)
                                                   : formula::axis(static_cast<int>(at - axes.begin()));
                         },
                         [&](const Expression::Node &load, const std::vector<Expression> &indices) {
                           std::vector<Expression> at;
                           for (int d : long_dimensions(operands.at(static_cast<size_t>(load.number))))
                             at.push_back(indices.at(static_cast<size_t>(d)));
                           return formula::load(load.number, load.type, at);
                         },
                         [](std::vector<ReductionStep> steps) {
                           const auto is_short = [](const ReductionStep &s) { return s.extent == 1; };
                           steps.erase(std::remove_if(steps.begin(), steps.end(), is_short), steps.end());
                           return steps;
                         }};
  FlatFormula flat = {Changer(change)(element), in_memory_order(result), {}};
  for (const Graph::Value &v : operands) flat.operands.push_back(in_memory_order(v));
  return flat;
}

// ---- Neighbours as one.

class Merging {
 public:
  explicit Merging(const FlatFormula &formula) : formula_(formula) {
    for (size_t d = 0; d < formula.result.shape.size(); ++d)
      extents_[{false, static_cast<int>(d)}] = formula.result.shape[d];
    for (size_t d = 1; d < formula.result.shape.size(); ++d)
      pairs_.insert({{false, static_cast<int>(d) - 1}, {false, static_cast<int>(d)}});
    for (size_t o = 0; o < formula.operands.size(); ++o)
      for (size_t d = 1; d < formula.operands[o].shape.size(); ++d) borders_.insert({o, d});
    std::set<Iterator> pinned;  // what is computed with
    formula::for_each_node(formula.element, [&](const Expression::Node &n) {
      if (n.kind == Kind::load) return loads_.push_back(&n);
      for (const Expression &a : n.arguments)
        if (is_iterator(a)) pinned.insert(iterator(a));
      for (size_t s = 0; s < n.steps.size(); ++s) extents_[{true, n.steps[s].id}] = n.steps[s].extent;
      for (size_t s = 1; s < n.steps.size(); ++s) pairs_.insert({{true, n.steps[s - 1].id}, {true, n.steps[s].id}});
    });
    if (is_iterator(formula.element)) pinned.insert(iterator(formula.element));
    remove(pairs_, [&](const Pair &p) { return pinned.count(p.first) || pinned.count(p.second); });
    while (remove(borders_, [&](const Border &b) { return !is_between_pairs(b); }) |
           remove(pairs_, [&](const Pair &p) { return !stay_together(p); })) {
    }
  }

  FlatFormula merged() const {
    const Change change = {[&](const Iterator &i) {
                             return i.is_step ? step({i.number, extent(i)}) : formula::axis(axis_number(i.number));
                           },
                           [&](const Expression::Node &load, const std::vector<Expression> &indices) {
                             std::vector<Expression> at;
                             for (size_t d = 0; d < indices.size(); ++d)
                               if (!borders_.count({static_cast<size_t>(load.number), d})) at.push_back(indices[d]);
                             return formula::load(load.number, load.type, at);
                           },
                           [&](const std::vector<ReductionStep> &steps) {
                             std::vector<ReductionStep> all;
                             for (const ReductionStep &s : steps)
                               if (!follows({true, s.id})) all.push_back({s.id, extent({true, s.id})});
                             return all;
                           }};
    FlatFormula flat = {Changer(change)(formula_.element), formula_.result, formula_.operands};
    flat.result.shape.clear();
    for (size_t d = 0; d < formula_.result.shape.size(); ++d)
      if (const Iterator i = {false, static_cast<int>(d)}; !follows(i)) flat.result.shape.push_back(extent(i));
    for (size_t o = 0; o < flat.operands.size(); ++o) {
      const Shape shape = std::exchange(flat.operands[o].shape, {});
      for (size_t d = 0; d < shape.size(); ++d)
        if (borders_.count({o, d}))
          flat.operands[o].shape.back() *= shape[d];
        else
          flat.operands[o].shape.push_back(shape[d]);
    }
    return flat;
  }

 private:
  using Pair = std::pair<Iterator, Iterator>;  // neighbours
  using Border = std::pair<size_t, size_t>;    // of an operand: between a dimension and the one before it

  template <typename Set, typename Condition>
  static bool remove(Set &set, const Condition &condition) {
    const size_t before = set.size();
    for (auto i = set.begin(); i != set.end();) i = condition(*i) ? set.erase(i) : std::next(i);
    return set.size() != before;
  }

  // Whether all that reads over the border does so along neighbours, the whole way.
  bool is_between_pairs(const Border &border) const {
    const auto [operand, d] = border;
    const Shape &shape = formula_.operands[operand].shape;
    return std::all_of(loads_.begin(), loads_.end(), [&, o = operand, d = d](const Expression::Node *load) {
      if (static_cast<size_t>(load->number) != o) return true;
      const Expression &before = load->arguments[d - 1], &after = load->arguments[d];
      return is_iterator(before) && is_iterator(after) && pairs_.count({iterator(before), iterator(after)}) &&
             extents_.at(iterator(before)) == shape[d - 1] && extents_.at(iterator(after)) == shape[d];
    });
  }

  // Whether neighbours are read over borders only.
  bool stay_together(const Pair &pair) const {
    return std::all_of(loads_.begin(), loads_.end(), [&](const Expression::Node *load) {
      const auto operand = static_cast<size_t>(load->number);
      for (size_t d = 0; d < load->arguments.size(); ++d) {
        if (!is_iterator(load->arguments[d])) continue;
        const Iterator i = iterator(load->arguments[d]);
        if (i == pair.first && !borders_.count({operand, d + 1})) return false;
        if (i == pair.second && !borders_.count({operand, d})) return false;
      }
      return true;
    });
  }

  bool follows(const Iterator &i) const {
    return std::any_of(pairs_.begin(), pairs_.end(), [&](const Pair &p) { return p.second == i; });
  }
  // Of an iterator and all that follow it.
  int64_t extent(const Iterator &i) const {
    const auto next = std::find_if(pairs_.begin(), pairs_.end(), [&](const Pair &p) { return p.first == i; });
    return extents_.at(i) * (next == pairs_.end() ? 1 : extent(next->second));
  }
  int axis_number(int axis) const {
    int number = 0;
    for (int a = 0; a < axis; ++a) number += follows({false, a + 1}) ? 0 : 1;
    return number;
  }

  const FlatFormula &formula_;
  std::map<Iterator, int64_t> extents_;
  std::set<Pair> pairs_;
  std::set<Border> borders_;
  std::vector<const Expression::Node *> loads_;
};

}  // namespace

FlatFormula flattened(const Expression &element, const Graph::Value &result,
                      const std::vector<Graph::Value> &operands) {
  const FlatFormula in_order = in_memory_order(element, result, operands);
  return Merging(in_order).merged();
}

}  // namespace saltern::generators
