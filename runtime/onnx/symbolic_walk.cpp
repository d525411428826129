#include "runtime/onnx/symbolic_walk.h"

#include <set>

#include "runtime/onnx/control_flow.h"

namespace saltern {

namespace {

constexpr int64_t most_elements = 1 << 16;  // of inputs to what is computed here
constexpr int64_t most_kept = 4096;         // elements of a value that is passed on
constexpr int64_t most_visits = 1 << 22;    // of nodes: loops inside of loops are walked again and again

Symbolic unknown() {
  Symbolic v;
  v.present = v.is_data = true;
  return v;
}

Symbolic of(Type type, Quantities extents, Tensor value = {}) {
  Symbolic v;
  v.present = v.known = v.sure = true;
  v.type = type;
  v.extents = std::move(extents);
  v.value = std::move(value);
  return v;
}

Symbolic of(Type type, const Shape &shape, Tensor value = {}) {
  return of(type, Quantities(shape.begin(), shape.end()), std::move(value));
}

bool is_alike(const Symbolic &a, const Symbolic &b) {
  return a.present == b.present && a.known == b.known && a.type == b.type && a.extents == b.extents;
}

// What the value is in every turn of a loop: its elements may be others.
Symbolic without_elements(Symbolic v) {
  if (!v.present) return v;
  v.value = {};
  v.elements.clear();
  v.is_data = true;
  return v;
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

// What an input is called: extents of one name are one.
std::string extent_name(const std::string &input, const Graph::Value &v, size_t d) {
  return v.symbol(d).empty() ? "?" + input + "?" + std::to_string(d) : v.symbol(d);
}

// All operands have fixed shapes: the lowering tells those of the results, and few elements are computed.
Symbolics with_fixed_shapes(const SymbolicCall &c) {
  bool few = are_few(c.inputs) && !is_random(c.node);
  const auto is_text = [](const Symbolic &v) { return v.present && v.type == Type::text; };
  Symbolics results;
  if (c.op.lower && std::none_of(c.inputs.begin(), c.inputs.end(), is_text)) {
    std::vector<Shape> shapes;
    for (const Symbolic &v : c.inputs) shapes.push_back(v.shape());
    for (const Operand &o : c.lowered(shapes)) {
      results.push_back(o.present() ? of(o.type, o.shape, o.value) : Symbolic());
      few &= elements(o.shape) <= most_kept;
    }
    const auto is_known = [](const Symbolic &r) { return !r.present || r.value.defined(); };
    if (!few || std::all_of(results.begin(), results.end(), is_known)) return results;
  }
  if (!few) return results;
  std::vector<HostValue> values;
  for (const Symbolic &v : c.inputs) values.push_back(v.present ? HostValue(v.value) : HostValue());
  results.clear();
  for (const HostValue &v : compute_operator(c.op, c.node, c.opset, values))
    results.push_back(v.is_tensor()  ? of(v.tensor().type(), v.tensor().shape(), v.tensor())
                      : v.is_empty() ? Symbolic()
                                     : unknown());
  return results;
}

Symbolics by_rules(SymbolicCall &c) {
  Symbolics results = extents_by_elements(c);
  if (results.empty()) results = extents_by_operands(c);
  const auto is_open = [](const Symbolic &v) { return v.is_open(); };
  if (results.empty() && std::none_of(c.inputs.begin(), c.inputs.end(), is_open)) results = with_fixed_shapes(c);
  try {
    Symbolics with_elements = results;
    add_elements(c, with_elements);
    return with_elements;
  } catch (const Error &) {  // they are many, or the node fails when it runs
    return results;
  }
}

// Whether a quantity is a number, or rises evenly with each extent of an input.
bool is_linear(const Quantity &q) {
  if (!q.is_known() || q.has_unknown_below(0)) return false;
  return std::all_of(q.terms().begin(), q.terms().end(), [](const Quantity::Term &t) { return t.factors.size() == 1; });
}

// Operands that tell a shape, not what is in it.
bool tells_shape(const Graph::Node &n, size_t input) {
  static const std::set<std::string> operations = {"Expand", "Reshape", "Resize", "Slice", "Split", "Tile", "TopK"};
  if (!n.domain.empty()) return false;
  return n.operation == "Pad" ? input == 1 : input > 0 && operations.count(n.operation) > 0;
}

}  // namespace

SymbolicWalk::SymbolicWalk(const Model &model) : GraphWalk(model) {
  const Graph &g = model.graph;
  for (const std::string &i : g.inputs) {
    const Graph::Value &v = g.value(i);
    for (size_t d = 0; d < v.shape.size(); ++d)
      if (v.ranked && v.shape[d] < 0) unknowns_.emplace(extent_name(i, v, d), 0);
  }
  for (auto &[name, number] : unknowns_) {  // in the order of their names
    number = static_cast<Quantity::Unknown>(names_.size());
    names_.push_back(name[0] == '?' ? "" : name);
  }
}

void SymbolicWalk::run() {
  const Graph &g = model().graph;
  for (const Graph::Node &n : g.nodes) own_.insert(&n);
  Values inputs;
  for (const std::string &name : g.inputs) {
    inputs.push_back(input(name));
    seen_[name] = inputs.back();
  }
  walk(g, inputs, nullptr);
}

// A default is one that callers may override.
Symbolic SymbolicWalk::input(const std::string &name) const {
  const Graph::Value &v = model().graph.value(name);
  if (v.container != Graph::Container::tensor || !v.ranked) return unknown();
  Quantities extents;
  for (size_t d = 0; d < v.shape.size(); ++d)
    extents.push_back(v.shape[d] < 0 ? Quantity::of(unknowns_.at(extent_name(name, v, d))) : Quantity(v.shape[d]));
  Symbolic all = of(v.type, extents);
  all.is_data = true;
  return all;
}

Symbolic SymbolicWalk::constant(const std::string &, const Tensor &value) {
  return of(value.type(), value.shape(), value);
}

SymbolicWalk::Values SymbolicWalk::computed(const Graph::Node &n, const Values &inputs, const Names &here) {
  Values results;
  try {
    if (++visits_ <= most_visits) results = GraphWalk::computed(n, inputs, here);
  } catch (const std::exception &) {  // only a run can tell
    results.clear();
  }
  results.resize(std::max(results.size(), n.outputs.size()), unknown());
  if (own_.count(&n))
    for (size_t o = 0; o < n.outputs.size(); ++o) seen_[n.outputs[o]] = results[o];
  return results;
}

SymbolicWalk::Values SymbolicWalk::apply(const Operator &op, const Graph::Node &n, int64_t opset,
                                         const Values &inputs) {
  Values results;
  const auto is_told = [](const Symbolic &v) { return !v.present || v.known; };
  const auto depends = [](const Symbolic &v) { return v.is_open() || !v.elements.empty(); };
  if (std::all_of(inputs.begin(), inputs.end(), is_told)) {
    SymbolicCall call(op, n, opset, inputs, last_unknown_);
    try {
      results = std::any_of(inputs.begin(), inputs.end(), depends) ? by_rules(call) : with_fixed_shapes(call);
    } catch (const std::exception &) {
      results.clear();
    }
  }
  results.resize(std::max(results.size(), n.outputs.size()), unknown());
  note_sizes(n, inputs, results);
  return results;
}

// Which results depend on data, and whether sizes decide on more than shapes.
void SymbolicWalk::note_sizes(const Graph::Node &n, const Values &inputs, Values &results) {
  const bool is_shape = n.domain.empty() && (n.operation == "Shape" || n.operation == "Size");
  bool is_data = is_random(n), is_decided = false;
  for (const Symbolic &v : inputs) is_data |= v.is_data && !is_shape;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto is_fixed = [](const Quantity &q) { return q.is_constant(); };
    const bool is_sized = !std::all_of(inputs[i].elements.begin(), inputs[i].elements.end(), is_fixed);
    is_decided |= is_sized && is_data && !tells_shape(n, i);
  }
  for (Symbolic &r : results) {
    if (!r.present) continue;
    r.is_data = is_data;
    const bool is_told =
        r.value.defined() || (!r.elements.empty() && std::all_of(r.elements.begin(), r.elements.end(), is_linear));
    is_decided |= !is_data && !is_told;
  }
  if (is_decided && decides_.empty()) decides_ = describe(n);
}

SymbolicWalk::Values SymbolicWalk::control_flow(const Graph::Node &n, int64_t opset, const Values &inputs,
                                                const Names &here) {
  for (const Symbolic &v : inputs)
    if (v.present && !v.is_data && !v.value.defined() && decides_.empty()) decides_ = describe(n);
  if (n.operation == "If") return branch(n, inputs, here);
  if (n.operation == "Loop") return loop(n, inputs, here);
  if (n.operation == "Scan") return scan(n, opset, inputs, here);
  return {};
}

// One branch where it is known which; else what both agree on.
SymbolicWalk::Values SymbolicWalk::branch(const Graph::Node &n, const Values &inputs, const Names &here) {
  const Tensor &condition = inputs.at(0).value;
  const Graph &then = n.attributes.graph("then_branch"), &otherwise = n.attributes.graph("else_branch");
  if (condition.defined()) return walk(condition.integers().at(0) != 0 ? then : otherwise, {}, &here);
  Values both = walk(then, {}, &here);
  const Values other = walk(otherwise, {}, &here);
  for (size_t o = 0; o < both.size(); ++o) {
    Symbolic &a = both[o];
    const bool is_one_rank = o < other.size() && a.present && a.known && other[o].known && a.type == other[o].type &&
                             a.extents.size() == other[o].extents.size();
    if (!is_one_rank) {
      a = unknown();
      continue;
    }
    for (size_t d = 0; d < a.extents.size(); ++d)
      if (a.extents[d] != other[o].extents[d]) a.extents[d] = Quantity::of(--last_unknown_);
    a = without_elements(a);
  }
  return both;
}

// The body's results in any turn. A state whose shape a turn changes is unknown, and the body is walked again with it.
SymbolicWalk::Values SymbolicWalk::turn(const Graph &body, const Values &inputs, size_t first_state,
                                        size_t first_result, size_t states, const Names &here) {
  Values given = inputs;
  for (size_t s = 0; s < states; ++s) given[first_state + s] = without_elements(given[first_state + s]);
  for (bool changed = true; changed;) {
    changed = false;
    Values results = walk(body, given, &here);
    for (size_t s = 0; s < states; ++s) {
      Symbolic &state = given[first_state + s];
      if (is_alike(state, results.at(first_result + s)) || (state.present && !state.known)) continue;
      state = unknown();
      changed = true;
    }
    if (!changed) return results;
  }
  return {};
}

// What is gathered from each turn, along a new axis. After no turn it has the shape that the body declares
// (nothing_of). Unknowns that came up in a turn may be others in the next.
Symbolic SymbolicWalk::all_turns(const Graph &body, size_t output, Symbolic each, const Quantity &turns, int64_t axis,
                                 Quantity::Unknown last_before) {
  if (!each.known) return unknown();
  if (!turns.is_at_least(1)) {
    const auto declared = body.values.find(body.outputs.at(output));
    if (declared == body.values.end() || !declared->second.ranked || declared->second.type != each.type ||
        declared->second.shape.size() != each.extents.size() || axis != 0)
      return unknown();
    for (size_t d = 0; d < each.extents.size(); ++d)
      if (!each.extents[d].is(std::max<int64_t>(declared->second.shape[d], 0))) each.extents[d] = Quantity();
  }
  const auto rank = static_cast<int64_t>(each.extents.size()) + 1;
  if (axis < -rank || axis >= rank) return unknown();
  each.extents.insert(each.extents.begin() + (axis < 0 ? axis + rank : axis), turns);
  for (Quantity &e : each.extents)
    if (!e.is_known() || e.has_unknown_below(last_before)) e = Quantity::of(--last_unknown_);
  each.sure = false;
  return without_elements(each);
}

SymbolicWalk::Values SymbolicWalk::loop(const Graph::Node &n, const Values &inputs, const Names &here) {
  const Graph &body = n.attributes.graph("body");
  if (inputs.size() < 2 || body.inputs.size() != inputs.size() || body.outputs.size() + 1 < inputs.size()) return {};
  const Quantity::Unknown last_before = last_unknown_;
  Values given = {without_elements(of(Type::i64, Shape())), of(Type::boolean, Shape(), Tensor::of<bool>({}, {true}))};
  given.insert(given.end(), inputs.begin() + 2, inputs.end());
  const size_t states = inputs.size() - 2;
  Values results = turn(body, given, 2, 1, states, here);
  // It ends before its count unless the condition never changes.
  const auto goes_on = [](const Tensor &t) { return t.defined() && t.integers().at(0) != 0; };
  Quantity turns;
  if (inputs[0].present && inputs[0].known && (!inputs[1].present || goes_on(inputs[1].value)) &&
      goes_on(results.at(0).value))
    if (const Quantities count = elements_of(inputs[0]); count.size() == 1 && count[0].is_known())
      turns = count[0].is_at_least(0) ? count[0] : count[0].is_at_most(0) ? Quantity(0) : Quantity();
  for (size_t o = 1; o < results.size(); ++o) {
    Symbolic &r = results[o];
    if (o <= states)
      r = is_alike(r, inputs[o + 1]) ? without_elements(r) : unknown();
    else
      r = all_turns(body, o, r, turns, 0, last_before);
  }
  results.erase(results.begin());
  return results;
}

SymbolicWalk::Values SymbolicWalk::scan(const Graph::Node &n, int64_t opset, const Values &inputs, const Names &here) {
  const ScanOrder s = scan_order(n, opset, inputs.size());
  if (opset < 9) return {};
  const Quantity::Unknown last_before = last_unknown_;
  const Graph &body = n.attributes.graph("body");
  Values given = inputs;
  Quantity turns;
  for (size_t i = 0; i < s.scans; ++i) {
    Symbolic &v = given[s.states + i];
    if (!v.known) return {};
    v = without_elements(v);
    const int64_t axis = i < s.input_axes.size() ? s.input_axes[i] : 0, rank = static_cast<int64_t>(v.extents.size());
    if (axis < -rank || axis >= rank) return {};
    const auto at = v.extents.begin() + (axis < 0 ? axis + rank : axis);
    if (!turns.is_constant()) turns = *at;  // all are equal
    v.extents.erase(at);
  }
  Values results = turn(body, given, 0, 0, s.states, here);
  for (size_t o = 0; o < results.size(); ++o) {
    Symbolic &r = results[o];
    if (o < s.states)
      r = is_alike(r, inputs[o]) ? without_elements(r) : unknown();
    else
      r = all_turns(body, o, r, turns, o - s.states < s.output_axes.size() ? s.output_axes[o - s.states] : 0,
                    last_before);
  }
  return results;
}

}  // namespace saltern
