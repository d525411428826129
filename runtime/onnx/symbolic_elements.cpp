// Nodes whose operands have fixed shapes: the lowering tells those of the results, and few elements are computed. Of
// integers and truths that sizes decide on, those of shapes and what nodes compute from them, the lowering's formulas are
// evaluated with quantities in the place of numbers.

#include <algorithm>

#include "runtime/graph/executor.h"
#include "runtime/graph/formula_node.h"
#include "runtime/onnx/symbolic.h"
#include "runtime/onnx/walk.h"

namespace saltern {

namespace {

using formula::Function;
using Known = std::map<std::string, Quantities>;  // elements, row by row, by the names of values

constexpr int64_t most_steps = 1 << 15;     // parts of formulas that are evaluated for one node
constexpr int64_t most_elements = 1 << 16;  // of inputs to what is computed here
constexpr int64_t most_kept = 4096;         // elements of a value that is passed on

// Decided where the difference of two is above or below a bound for every size.
Quantity truth(bool yes, bool no) { return yes ? Quantity(1) : no ? Quantity(0) : Quantity(); }
Quantity opposite(const Quantity &a) { return truth(a.is(0), a.is(1)); }
Quantity is_less(const Quantity &a, const Quantity &b) { return truth((a - b).is_at_most(-1), (a - b).is_at_least(0)); }
Quantity is_equal(const Quantity &a, const Quantity &b) {
  return truth(a == b, (a - b).is_at_most(-1) || (a - b).is_at_least(1));
}
// 0 where it depends on sizes.
int64_t number(const Quantity &q) { return q.is_constant() ? q.constant() : 0; }
Quantity greatest_of(const Quantity &a, const Quantity &b) {
  return (b - a).is_at_least(0) ? b : (a - b).is_at_least(0) ? a : Quantity();
}

// Of one operand or of two, and as reductions fold them. Division truncates, which is rounding down where nothing is
// negative; both, either, differ and invert are of truths.
using Q = const Quantity &;
const std::map<Function, Quantity (*)(Q, Q)> &rules() {
  using F = Function;
  static const std::map<Function, Quantity (*)(Q, Q)> all = {
      {F::negate, [](Q a, Q) { return a * -1; }},
      {F::absolute, [](Q a, Q) { return greatest_of(a, a * -1); }},
      {F::invert, [](Q a, Q) { return opposite(a); }},
      {F::stopped, [](Q a, Q) { return a; }},
      {F::add, [](Q a, Q b) { return a + b; }},
      {F::sum, [](Q a, Q b) { return a + b; }},
      {F::subtract, [](Q a, Q b) { return a - b; }},
      {F::multiply, [](Q a, Q b) { return a * b; }},
      {F::product, [](Q a, Q b) { return a * b; }},
      {F::divide,
       [](Q a, Q b) { return number(b) <= 0     ? Quantity()
                             : a.is_at_least(0) ? a.divided(number(b))
                                                : a.quotient(b); }},
      {F::quotient, [](Q a, Q b) { return a.divided(number(b)); }},
      {F::modulo, [](Q a, Q b) { return a.remainder(number(b)); }},
      {F::remainder, [](Q a, Q b) { return a.is_at_least(0) ? a.remainder(number(b)) : Quantity(); }},
      {F::maximum, greatest_of},
      {F::greatest, greatest_of},
      {F::minimum, [](Q a, Q b) { return greatest_of(a * -1, b * -1) * -1; }},
      {F::least, [](Q a, Q b) { return greatest_of(a * -1, b * -1) * -1; }},
      {F::less, is_less},
      {F::less_equal, [](Q a, Q b) { return opposite(is_less(b, a)); }},
      {F::equal, is_equal},
      {F::both, [](Q a, Q b) { return truth(a.is(1) && b.is(1), a.is(0) || b.is(0)); }},
      {F::either, [](Q a, Q b) { return truth(a.is(1) || b.is(1), a.is(0) && b.is(0)); }},
      {F::differ, [](Q a, Q b) { return opposite(is_equal(a, b)); }},
  };
  return all;
}

Quantity computed_by(Function f, Q a, Q b, Type type) {
  const bool of_truths = f == Function::invert || (f >= Function::both && f <= Function::differ);
  const auto rule = rules().find(f);
  return rule == rules().end() || (of_truths && type != Type::boolean) ? Quantity() : rule->second(a, b);
}

// The next place of a shape, the last dimension fastest; false behind the last.
bool advance(Shape &place, const Shape &shape) {
  for (size_t d = shape.size(); d-- > 0;) {
    if (++place[d] < shape[d]) return true;
    place[d] = 0;
  }
  return false;
}

class Formula {
 public:
  Formula(const Graph &graph, const Graph::Node &node, const Known &known)
      : graph_(graph), node_(node), known_(known) {}

  Quantities elements() {
    const formula::ExactFormula f = formula_of(graph_, node_);
    const auto along = static_cast<size_t>(f.along);
    const auto back = f.is_scan() ? static_cast<size_t>(dense_strides(f.shape, Layout::row_major)[along]) : 0;
    Quantities all;
    axes_.assign(f.shape.size(), 0);
    if (saltern::elements(f.shape) > 0) do {
        if (f.is_scan()) carried_ = axes_[along] == 0 ? value(f.before) : all[all.size() - back];
        all.push_back(value(f.element));
      } while (advance(axes_, f.shape));
    return all;
  }

 private:
  Quantity value(const Expression &e) {
    if (++steps_ > most_steps) fail("too much to compute");
    const Quantity q = computed(*e.get());
    return holds(e.type(), q) ? q : Quantity();
  }

  Quantity computed(const Expression::Node &n) {
    using Kind = Expression::Kind;
    const auto argument = [&](size_t i) { return value(n.arguments[i]); };
    switch (n.kind) {
      case Kind::constant:
        return n.integer;
      case Kind::axis:
        return axes_.at(static_cast<size_t>(n.number));
      case Kind::step:
        return at_step_.at(n.number);
      case Kind::load:
        return loaded(n);
      case Kind::carried:
        return carried_;
      case Kind::cast: {
        const Quantity q = argument(0);
        return n.type == Type::boolean ? opposite(is_equal(q, 0)) : q;
      }
      case Kind::select: {
        const Quantity condition = argument(0);
        if (condition.is_known()) return argument(condition.is(1) ? 1 : 2);
        const Quantity then = argument(1);
        return then == argument(2) ? then : Quantity();
      }
      case Kind::call:
        return computed_by(n.function, argument(0), n.arguments.size() > 1 ? argument(1) : Quantity(),
                           n.arguments[0].type());
      case Kind::reduce:
        return reduced(n);
      default:
        return {};
    }
  }

  Quantity loaded(const Expression::Node &n) {
    const std::string &from = node_.inputs.at(static_cast<size_t>(n.number));
    const auto elements = known_.find(from);
    if (elements == known_.end()) return {};
    const Shape &shape = graph_.value(from).shape;
    int64_t place = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      const Quantity i = value(n.arguments[d]);
      if (!i.is_constant() || i.constant() < 0 || i.constant() >= shape[d]) return {};
      place = place * shape[d] + i.constant();
    }
    return elements->second.at(static_cast<size_t>(place));
  }

  Quantity reduced(const Expression::Node &n) {
    if (rules().count(n.function) == 0) return {};  // it finds a place
    Shape shape, place(n.steps.size(), 0);
    for (const formula::ReductionStep &s : n.steps) shape.push_back(s.extent);
    const bool is_sum = n.function == Function::sum;
    if (saltern::elements(shape) == 0)
      return is_sum || n.function == Function::product ? Quantity(!is_sum) : Quantity();
    Quantity all;
    bool is_first = true;
    do {
      for (size_t s = 0; s < place.size(); ++s) at_step_[n.steps[s].id] = place[s];
      const Quantity next = value(n.arguments[0]);
      all = is_first ? next : computed_by(n.function, all, next, n.type);
      is_first = false;
    } while (advance(place, shape));
    return all;
  }

  const Graph &graph_;
  const Graph::Node &node_;
  const Known &known_;
  Shape axes_;
  std::map<int, int64_t> at_step_;
  Quantity carried_;  // by a scan
  int64_t steps_ = 0;
};

// A node of Saltern's own that moves elements: it moves their numbers.
Quantities moved(const Graph &graph, const Graph::Node &node, const Known &known) {
  Quantities all, result;
  std::vector<Tensor> inputs;
  for (const std::string &i : node.inputs) {
    std::vector<int64_t> numbers;
    for (const Quantity &q : known.at(i)) {
      numbers.push_back(static_cast<int64_t>(all.size()));
      all.push_back(q);
    }
    inputs.push_back(Tensor::of<int64_t>(graph.value(i).shape, numbers));
  }
  for (const int64_t number : compute_node(graph, node, inputs).at(0).integers())
    result.push_back(all.at(static_cast<size_t>(number)));
  return result;
}

// Of all results of a node whose operands have fixed shapes.
void add_elements(const SymbolicCall &c, const SymbolicCall::Lowered &lowered, Symbolics &results) {
  const Graph &g = lowered.graph;
  Known known;
  for (size_t i = 0; i < c.inputs.size(); ++i)
    if (c.inputs[i].present && has_quantities(c.inputs[i].type))
      known["input" + std::to_string(i)] = elements_of(c.inputs[i]);
  for (const auto &[name, v] : g.values)
    if (v.constant.defined() && has_quantities(v.type)) known[name] = elements_of(symbolic(v.constant));
  const auto is_known = [&](const std::string &name) { return known.count(name) > 0; };
  for (const Graph::Node &n : g.nodes) {
    const bool moves = n.operation == "reshape" || n.operation == "transpose" || n.operation == "concat";
    if ((n.operation == "formula" || n.operation == "scan") && has_quantities(g.value(n.outputs[0]).type))
      known[n.outputs[0]] = Formula(g, n, known).elements();
    else if (moves && std::all_of(n.inputs.begin(), n.inputs.end(), is_known))
      known[n.outputs[0]] = moved(g, n, known);
  }
  for (size_t r = 0; r < results.size(); ++r)
    if (const auto elements = known.find(lowered.results[r].name); elements != known.end() && results[r].present)
      set_elements(results[r], elements->second);
}

// Whether all that is there has elements that are known, and few enough to compute with.
bool are_few(const Symbolics &values) {
  int64_t count = 0;
  for (const Symbolic &v : values) {
    if (v.present && !v.value.defined()) return false;
    if (v.present) count += v.value.size();
  }
  return count <= most_elements;
}

}  // namespace

Symbolics with_fixed_shapes(SymbolicCall &c) {
  bool few = are_few(c.inputs) && !is_random(c.node);
  const bool depends =
      std::any_of(c.inputs.begin(), c.inputs.end(), [](const Symbolic &v) { return !v.elements.empty(); });
  const auto is_text = [](const Symbolic &v) { return v.present && v.type == Type::text; };
  Symbolics results;
  if (c.op.lower && std::none_of(c.inputs.begin(), c.inputs.end(), is_text)) {
    std::vector<Shape> shapes;
    for (const Symbolic &v : c.inputs) shapes.push_back(v.shape());
    SymbolicCall::Lowered lowered;
    try {
      lowered = c.lowered(shapes);
    } catch (const Error &) {
      if (!depends) throw;
      return extents_by_elements(c);
    }
    for (const Operand &o : lowered.results) {
      results.push_back(o.present() ? symbolic(o.type, {o.shape.begin(), o.shape.end()}, true, o.value) : Symbolic());
      few &= elements(o.shape) <= most_kept;
    }
    if (depends && !is_random(c.node)) try {
        add_elements(c, lowered, results);
      } catch (const Error &) {  // they are many, or the node fails when it runs
      }
    const auto is_known = [](const Symbolic &r) { return !r.present || r.value.defined(); };
    if (!few || std::all_of(results.begin(), results.end(), is_known)) return results;
  }
  if (!few) return results;
  std::vector<HostValue> values;
  for (const Symbolic &v : c.inputs) values.push_back(v.present ? HostValue(v.value) : HostValue());
  results.clear();
  for (const HostValue &v : compute_operator(c.op, c.node, c.opset, values))
    results.push_back(v.is_tensor() ? symbolic(v.tensor()) : v.is_empty() ? Symbolic() : unknown());
  return results;
}

}  // namespace saltern
