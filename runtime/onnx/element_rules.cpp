// Elements of integers and truths that sizes decide on: those of shapes, and what is computed from them.

#include <algorithm>
#include <map>

#include "runtime/onnx/symbolic.h"

namespace saltern {

namespace {

// ---- Moved: the operator moves numbers of elements, and the elements follow. Which operands hold such elements; all
// others are told by no size.
constexpr size_t all_operands = SIZE_MAX;

struct Move {
  const char *operation;
  std::vector<size_t> operands;
};

const std::vector<Move> moves = {
    {"Concat", {all_operands}}, {"Expand", {0}},   {"Flatten", {0}}, {"Gather", {0}},  {"GatherElements", {0}},
    {"GatherND", {0}},          {"Identity", {0}}, {"Pad", {0, 2}},  {"Reshape", {0}}, {"ScatterElements", {0, 2}},
    {"ScatterND", {0, 2}},      {"Slice", {0}},    {"Split", {0}},   {"Squeeze", {0}}, {"Tile", {0}},
    {"Transpose", {0}},         {"Unsqueeze", {0}}};

bool moves_operand(const Move &m, size_t i) {
  return m.operands[0] == all_operands || std::find(m.operands.begin(), m.operands.end(), i) != m.operands.end();
}

void move_elements(const SymbolicCall &c, const Move &m, Symbolics &results) {
  if (c.attributes().has("reduction") && c.attributes().word("reduction") != "none") return;
  Quantities all = {0};  // by their numbers; an edge that is put around is 0
  std::vector<HostValue> operands;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const Symbolic &v = c.inputs[i];
    if (!v.present) {
      operands.emplace_back();
    } else if (moves_operand(m, i)) {
      if (!has_quantities(v.type)) return;
      std::vector<int64_t> numbers;
      for (const Quantity &q : elements_of(v)) {
        numbers.push_back(static_cast<int64_t>(all.size()));
        all.push_back(q);
      }
      operands.emplace_back(Tensor::of<int64_t>(v.shape(), numbers));
    } else if (v.value.defined()) {
      operands.emplace_back(v.value);
    } else {
      return;
    }
  }
  const std::vector<HostValue> moved = compute_operator(c.op, c.node, c.opset, operands);
  for (size_t r = 0; r < results.size(); ++r) {
    if (!results[r].present) continue;
    for (const int64_t number : moved.at(r).tensor().integers())
      results[r].elements.push_back(all.at(static_cast<size_t>(number)));
  }
}

// ---- Computed, each from those at its place.

// Decided where the difference of two is above or below a bound for every size.
Quantity truth(bool yes, bool no) { return yes ? Quantity(1) : no ? Quantity(0) : Quantity(); }
Quantity is_less(const Quantity &a, const Quantity &b) { return truth((a - b).is_at_most(-1), (a - b).is_at_least(0)); }
Quantity is_equal(const Quantity &a, const Quantity &b) {
  return truth(a == b, (a - b).is_at_most(-1) || (a - b).is_at_least(1));
}
Quantity opposite(const Quantity &a) { return truth(a.is(0), a.is(1)); }
Quantity least_of(const Quantity &a, const Quantity &b) {
  return (b - a).is_at_least(0) ? a : (a - b).is_at_least(0) ? b : Quantity();
}
Quantity greatest_of(const Quantity &a, const Quantity &b) {
  return (b - a).is_at_least(0) ? b : (a - b).is_at_least(0) ? a : Quantity();
}

// Truncated, which is rounded down where it is not negative.
Quantity quotient(const Quantity &a, const Quantity &b) {
  if (!b.is_constant() || b.constant() <= 0) return {};
  const Quantity exact = a.quotient(b);
  return exact.is_known() ? exact : a.is_at_least(0) ? a.divided(b.constant()) : Quantity();
}

using Operands = std::vector<Quantity>;  // absent ones are not known
using Rule = Quantity (*)(const Operands &, const Graph::Node &);

template <Quantity (*of)(const Quantity &, const Quantity &)>
Quantity folded(const Operands &all, const Graph::Node &) {
  Quantity q = all.at(0);
  for (size_t i = 1; i < all.size(); ++i) q = of(q, all[i]);
  return q;
}
template <Quantity (*of)(const Quantity &, const Quantity &), bool swapped = false, bool opposite_of = false>
Quantity compared(const Operands &all, const Graph::Node &) {
  const Quantity q = of(all.at(swapped ? 1 : 0), all.at(swapped ? 0 : 1));
  return opposite_of ? opposite(q) : q;
}

Quantity sum(const Quantity &a, const Quantity &b) { return a + b; }
Quantity difference(const Quantity &a, const Quantity &b) { return a - b; }
Quantity product(const Quantity &a, const Quantity &b) { return a * b; }

const std::map<std::string, Rule> &computed() {
  static const std::map<std::string, Rule> rules = {
      {"Abs",
       [](const Operands &a, const Graph::Node &) {
         return a[0].is_at_least(0) ? a[0] : a[0].is_at_most(0) ? a[0] * -1 : Quantity();
       }},
      {"Add", folded<sum>},
      {"And", [](const Operands &a,
                 const Graph::Node &) { return truth(a[0].is(1) && a[1].is(1), a[0].is(0) || a[1].is(0)); }},
      {"Cast", [](const Operands &a, const Graph::Node &) { return a[0]; }},
      {"Clip",
       [](const Operands &a, const Graph::Node &n) {
         Quantity q = a[0];
         if (n.inputs.size() > 1 && !n.inputs[1].empty()) q = greatest_of(q, a[1]);
         if (n.inputs.size() > 2 && !n.inputs[2].empty()) q = least_of(q, a[2]);
         return n.attributes.has("min") || n.attributes.has("max") ? Quantity() : q;
       }},
      {"Div", folded<quotient>},
      {"Equal", compared<is_equal>},
      {"Greater", compared<is_less, true>},
      {"GreaterOrEqual", compared<is_less, false, true>},
      {"Less", compared<is_less>},
      {"LessOrEqual", compared<is_less, true, true>},
      {"Max", folded<greatest_of>},
      {"Min", folded<least_of>},
      {"Mod",
       [](const Operands &a, const Graph::Node &n) {
         const bool is_positive = a[0].is_at_least(0) || n.attributes.integer("fmod", 0) == 0;
         return a[1].is_constant() && is_positive ? a[0].remainder(a[1].constant()) : Quantity();
       }},
      {"Mul", folded<product>},
      {"Neg", [](const Operands &a, const Graph::Node &) { return a[0] * -1; }},
      {"Not", [](const Operands &a, const Graph::Node &) { return opposite(a[0]); }},
      {"Or", [](const Operands &a,
                const Graph::Node &) { return truth(a[0].is(1) || a[1].is(1), a[0].is(0) && a[1].is(0)); }},
      {"Sub", folded<difference>},
      {"Where",
       [](const Operands &a, const Graph::Node &) {
         return a[0].is(1) || a[1] == a[2] ? a[1] : a[0].is(0) ? a[2] : Quantity();
       }},
  };
  return rules;
}

// The places that broadcasting to a shape reads a tensor's elements at.
std::vector<size_t> broadcast_places(const Shape &from, const Shape &to) {
  std::vector<size_t> places = {0};
  for (size_t d = 0, missing = to.size() - from.size(); d < to.size(); ++d) {
    const int64_t extent = d < missing ? 1 : from[d - missing];
    std::vector<size_t> next;
    for (const size_t p : places)
      for (int64_t i = 0; i < to[d]; ++i)
        next.push_back(p * static_cast<size_t>(extent) + static_cast<size_t>(extent == 1 ? 0 : i));
    places = std::move(next);
  }
  return places;
}

void compute_elements(const SymbolicCall &c, Rule rule, Symbolic &result) {
  std::vector<Quantities> given;
  std::vector<std::vector<size_t>> places;
  const Shape shape = result.shape();
  for (const Symbolic &v : c.inputs) {
    if (v.present && !has_quantities(v.type)) return;
    given.push_back(v.present ? elements_of(v) : Quantities(1));
    places.push_back(broadcast_places(v.present && elements(v.shape()) != 1 ? v.shape() : Shape(), shape));
  }
  for (size_t e = 0; e < static_cast<size_t>(elements(shape)); ++e) {
    Operands operands;
    for (size_t i = 0; i < given.size(); ++i) operands.push_back(given[i].at(places[i].at(e)));
    result.elements.push_back(rule(operands, c.node));
  }
}

// ---- All of them as one.

const std::map<std::string, Quantity (*)(const Quantity &, const Quantity &)> reduced = {
    {"ReduceMax", greatest_of}, {"ReduceMin", least_of}, {"ReduceProd", product}, {"ReduceSum", sum}};

// ---- What a type holds. 64 bits hold whatever sizes give.

bool fits(Type type, const Quantity &q) {
  if (type == Type::i64) return true;
  if (type == Type::boolean) return q.is(0) || q.is(1);
  return q.is_at_least(std::numeric_limits<int32_t>::min()) && q.is_at_most(std::numeric_limits<int32_t>::max());
}

// The elements as a tensor, where they are the same whatever the sizes are.
void settle(Symbolic &r) {
  for (Quantity &q : r.elements)
    if (q.is_known() && !fits(r.type, q)) q = Quantity();
  const bool all_constant =
      std::all_of(r.elements.begin(), r.elements.end(), [](const Quantity &q) { return q.is_constant(); });
  if (all_constant) {
    r.value = Tensor::empty(r.shape(), r.type);
    for (size_t i = 0; i < r.elements.size(); ++i) {
      const int64_t v = r.elements[i].constant();
      if (r.type == Type::i64)
        r.value.data<int64_t>()[i] = v;
      else if (r.type == Type::i32)
        r.value.data<int32_t>()[i] = static_cast<int32_t>(v);
      else
        r.value.data<bool>()[i] = v != 0;
    }
  }
  const bool none_known =
      std::none_of(r.elements.begin(), r.elements.end(), [](const Quantity &q) { return q.is_known(); });
  if (all_constant || none_known) r.elements.clear();
}

}  // namespace

void add_elements(SymbolicCall &c, Symbolics &results) {
  for (const Symbolic &r : results)
    if (r.present && (r.is_open() || !has_quantities(r.type))) return;
  if (!c.node.domain.empty() || results.empty() || !results[0].present) return;
  if (c.opset < 7 && c.attributes().has("axis") && computed().count(c.node.operation)) return;  // not aligned at ends
  const std::string &name = c.node.operation;
  const auto move = std::find_if(moves.begin(), moves.end(), [&](const Move &m) { return m.operation == name; });
  const auto rule = computed().find(name);
  const auto fold = reduced.find(name);
  const auto is_open = [](const Symbolic &v) { return v.present && v.is_open(); };
  const bool is_shape = name == "Shape" || name == "Size";
  if (!is_shape && std::any_of(c.inputs.begin(), c.inputs.end(), is_open)) return;
  if (move != moves.end()) {
    move_elements(c, *move, results);
  } else if (rule != computed().end()) {
    compute_elements(c, rule->second, results[0]);
  } else if (fold != reduced.end() && elements(results[0].shape()) == 1 && has_quantities(c.input(0).type)) {
    const Quantities all = elements_of(c.input(0));
    if (all.empty()) return;
    Quantity q = all[0];
    for (size_t i = 1; i < all.size(); ++i) q = fold->second(q, all[i]);
    results[0].elements = {q};
  } else if (!is_shape) {
    return;
  }
  for (Symbolic &r : results)
    if (r.present && r.elements.size() == static_cast<size_t>(elements(r.shape()))) settle(r);
}

}  // namespace saltern
