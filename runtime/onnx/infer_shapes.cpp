#include "runtime/onnx/infer_shapes.h"

#include <set>

#include "runtime/onnx/control_flow.h"
#include "runtime/onnx/operators/axis.h"
#include "runtime/onnx/symbolic.h"

namespace saltern {

namespace {

constexpr int64_t most_values = 64;       // elements of a value that is kept as a constant
constexpr int64_t most_visits = 1 << 22;  // of nodes: loops inside of loops are walked again and again

bool is_alike(const Symbolic &a, const Symbolic &b) {
  return a.present == b.present && a.known == b.known && a.type == b.type && a.extents == b.extents;
}

// What the value is in every turn of a loop: its elements may be others.
Symbolic without_elements(Symbolic v) {
  if (!v.present) return v;
  v.value = {};
  v.elements.clear();
  return v;
}

// What an input is called: extents of one name are one.
std::string extent_name(const std::string &input, const Graph::Value &v, size_t d) {
  return v.symbol(d).empty() ? "?" + input + "?" + std::to_string(d) : v.symbol(d);
}

// Operands that tell a shape, not what is in it.
bool tells_shape(const Graph::Node &n, size_t input) {
  static const std::set<std::string> behind_the_first = {"Expand", "Reshape", "Resize", "Slice",
                                                         "Split",  "Tile",    "TopK"};
  if (!n.domain.empty()) return false;
  return n.operation == "ConstantOfShape" || (n.operation == "Pad" && input == 1) ||
         (input > 0 && behind_the_first.count(n.operation) > 0);
}

// A walk over a model in which values are what is known of them for every size (symbolic.h).
class SymbolicWalk : public GraphWalk<Symbolic> {
 public:
  explicit SymbolicWalk(const Model &model) : GraphWalk(model) {}

  void run() {
    const Graph &g = model().graph;
    for (const Graph::Node &n : g.nodes) own_.insert(&n);
    Values inputs;
    for (const std::string &name : g.inputs) {
      inputs.push_back(input(name));
      seen_[name] = inputs.back();
    }
    walk(g, inputs, nullptr);
  }

  // Of the model's own graph.
  const std::map<std::string, Symbolic> &seen() const { return seen_; }
  // The first node that makes of sizes what is not told for all of them; empty: none does.
  const std::string &decides_by_sizes() const { return decides_; }

 private:
  // A default is one that callers may override.
  Symbolic input(const std::string &name) const {
    const Graph::Value &v = model().graph.value(name);
    if (v.container != Graph::Container::tensor || !v.ranked) return unknown();
    Quantities extents;
    for (size_t d = 0; d < v.shape.size(); ++d)
      extents.push_back(v.shape[d] < 0 ? Quantity::of_input(extent_name(name, v, d)) : Quantity(v.shape[d]));
    return symbolic(v.type, extents, true);
  }

  Symbolic constant(const std::string &, const Tensor &value) override { return symbolic(value); }

  Values computed(const Graph::Node &n, const Values &inputs, const Names &here) override {
    Values results;
    try {
      if (++visits_ <= most_visits) results = GraphWalk::computed(n, inputs, here);
    } catch (const std::exception &) {  // only a run can tell
    }
    results.resize(std::max(results.size(), n.outputs.size()), unknown());
    // Of a function, its own nodes tell.
    if (is_control_flow(n) || !model().function(n.domain, n.operation)) note(n, inputs, results);
    if (own_.count(&n))
      for (size_t o = 0; o < n.outputs.size(); ++o) seen_[n.outputs[o]] = results[o];
    return results;
  }

  Values apply(const Operator &op, const Graph::Node &n, int64_t opset, const Values &inputs) override {
    const auto is_told = [](const Symbolic &v) { return !v.present || v.known; };
    const auto is_open = [](const Symbolic &v) { return v.is_open(); };
    if (!std::all_of(inputs.begin(), inputs.end(), is_told)) return {};
    SymbolicCall call(op, n, opset, inputs, unknowns_);
    if (std::none_of(inputs.begin(), inputs.end(), is_open)) return with_fixed(call);
    Values results = extents_by_elements(call);
    return results.empty() ? extents_by_operands(call) : results;
  }

  // Operands and results as far as a node with no known elements sees them: the types (-1: left out) and shapes of the
  // ones, and which of the others are wanted.
  using Kind = std::tuple<const Operator *, int64_t, std::vector<std::pair<int, Shape>>, std::vector<bool>>;
  struct Example {
    Attributes attributes;
    Values results;
  };

  // A node none of whose operands is open. Where no elements are known, it gives what the last one of its kind gave: a
  // graph has many nodes of few kinds.
  Values with_fixed(SymbolicCall &call) {
    const auto has_elements = [](const Symbolic &v) { return v.value.defined() || !v.elements.empty(); };
    if (call.inputs.empty() || std::any_of(call.inputs.begin(), call.inputs.end(), has_elements))
      return with_fixed_shapes(call);
    Kind kind(&call.op, call.opset, {}, {});
    for (const Symbolic &v : call.inputs)
      std::get<2>(kind).emplace_back(v.present ? static_cast<int>(v.type) : -1, v.present ? v.shape() : Shape());
    for (const std::string &o : call.node.outputs) std::get<3>(kind).push_back(!o.empty());
    const auto last = last_.find(kind);
    if (last != last_.end() && last->second.attributes == call.attributes()) return last->second.results;
    return (last_[std::move(kind)] = {call.attributes(), with_fixed_shapes(call)}).results;
  }

  Values control_flow(const Graph::Node &n, int64_t opset, const Values &inputs, const Names &here) override {
    if (n.operation == "If") return branch(n, inputs, here);
    if (n.operation == "Loop") return loop(n, inputs, here);
    if (n.operation == "Scan") return scan(n, opset, inputs, here);
    if (n.operation == "FlexAttention") return flex_attention<Symbolic>(*this, n, opset, inputs, here);
    return {};
  }

  // Notes the first node that computes with sizes and whose results are not told for all of them.
  void note(const Graph::Node &n, const Values &inputs, const Values &results) {
    const auto is_open = [](const Quantity &q) { return q.is_known() && !q.is_constant(); };
    const auto is_known = [](const Quantity &q) { return q.is_known(); };
    bool is_of_sizes = false, is_told = true;
    for (size_t i = 0; i < inputs.size(); ++i)
      is_of_sizes |= !tells_shape(n, i) && std::any_of(inputs[i].elements.begin(), inputs[i].elements.end(), is_open);
    for (size_t o = 0; o < n.outputs.size(); ++o) {
      const Quantities &all = results[o].elements;
      is_told &= n.outputs[o].empty() || results[o].value.defined() ||
                 (!all.empty() && std::all_of(all.begin(), all.end(), is_known));
    }
    if (is_of_sizes && !is_told && decides_.empty()) decides_ = describe(n);
  }

  // One branch where it is known which; else what both agree on.
  Values branch(const Graph::Node &n, const Values &inputs, const Names &here) {
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
        if (a.extents[d] != other[o].extents[d]) a.extents[d] = Quantity::unknown(++unknowns_);
      a = without_elements(a);
    }
    return both;
  }

  // The body's results in any turn. A state whose shape a turn changes is unknown, and the body is walked again with it.
  Values turn(const Graph &body, const Values &inputs, size_t first_state, size_t first_result, size_t states,
              const Names &here) {
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
  Symbolic all_turns(const Graph &body, size_t output, Symbolic each, const Quantity &turns, int64_t axis,
                     int unknowns_before) {
    if (!each.known) return unknown();
    if (!turns.is_at_least(1)) {
      const auto declared = body.values.find(body.outputs.at(output));
      if (declared == body.values.end() || !declared->second.ranked || declared->second.type != each.type ||
          declared->second.shape.size() != each.extents.size() || axis != 0)
        return unknown();
      for (size_t d = 0; d < each.extents.size(); ++d)
        if (!each.extents[d].is(std::max<int64_t>(declared->second.shape[d], 0))) each.extents[d] = Quantity();
    }
    const int at = axis_within(axis, static_cast<int64_t>(each.extents.size()) + 1);
    each.extents.insert(each.extents.begin() + at, turns);
    for (Quantity &e : each.extents)
      if (!e.is_known() || e.has_unknown_after(unknowns_before)) e = Quantity::unknown(++unknowns_);
    each.sure = false;
    return without_elements(each);
  }

  // What a node gives whose body gave this in any turn: states that no turn changes, and what is gathered from all turns.
  Values gathered(const Graph &body, Values results, size_t first, const Values &states, const Quantity &turns,
                  const std::vector<int64_t> &axes, int unknowns_before) {
    for (size_t o = first; o < results.size(); ++o) {
      Symbolic &r = results[o];
      const size_t number = o - first;
      if (number < states.size()) {
        r = is_alike(r, states[number]) ? without_elements(r) : unknown();
      } else {
        const size_t scanned = number - states.size();
        r = all_turns(body, o, r, turns, scanned < axes.size() ? axes[scanned] : 0, unknowns_before);
      }
    }
    results.erase(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(first));
    return results;
  }

  Values loop(const Graph::Node &n, const Values &inputs, const Names &here) {
    const Graph &body = n.attributes.graph("body");
    if (inputs.size() < 2 || body.inputs.size() != inputs.size() || body.outputs.size() + 1 < inputs.size()) return {};
    const int unknowns_before = unknowns_;
    Values given = {without_elements(symbolic(Type::i64, {}, true)), symbolic(Tensor::of<bool>({}, {true}))};
    given.insert(given.end(), inputs.begin() + 2, inputs.end());
    const size_t states = inputs.size() - 2;
    const Values results = turn(body, given, 2, 1, states, here);
    // It ends before its count unless the condition never changes.
    const auto goes_on = [](const Tensor &t) { return t.defined() && t.integers().at(0) != 0; };
    Quantity turns;
    if (inputs[0].present && inputs[0].known && (!inputs[1].present || goes_on(inputs[1].value)) &&
        goes_on(results.at(0).value))
      if (const Quantities count = elements_of(inputs[0]); count.size() == 1 && count[0].is_known())
        turns = count[0].is_at_least(0) ? count[0] : count[0].is_at_most(0) ? Quantity(0) : Quantity();
    return gathered(body, results, 1, {inputs.begin() + 2, inputs.end()}, turns, {}, unknowns_before);
  }

  Values scan(const Graph::Node &n, int64_t opset, const Values &inputs, const Names &here) {
    const ScanOrder s = scan_order(n, opset, inputs.size());
    if (opset < 9) return {};
    const int unknowns_before = unknowns_;
    const Graph &body = n.attributes.graph("body");
    Values given = inputs;
    Quantity turns;
    for (size_t i = 0; i < s.scans; ++i) {
      Symbolic &v = given[s.states + i];
      if (!v.known) return {};
      v = without_elements(v);
      const auto at = v.extents.begin() + axis_within(i < s.input_axes.size() ? s.input_axes[i] : 0,
                                                      static_cast<int64_t>(v.extents.size()));
      if (!turns.is_constant()) turns = *at;  // all are equal
      v.extents.erase(at);
    }
    const auto states = inputs.begin() + static_cast<std::ptrdiff_t>(s.states);
    return gathered(body, turn(body, given, 0, 0, s.states, here), 0, {inputs.begin(), states}, turns, s.output_axes,
                    unknowns_before);
  }

  int unknowns_ = 0;
  int64_t visits_ = 0;
  std::string decides_;
  std::map<std::string, Symbolic> seen_;
  std::unordered_set<const Graph::Node *> own_;
  std::map<Kind, Example> last_;
};

InferredValue inferred(const Symbolic &seen) {
  InferredValue v;
  v.type = seen.type;
  v.extents = seen.extents;
  v.sure = seen.sure;
  bool named = false;
  for (const Quantity &e : seen.extents) {
    v.shape.push_back(e.is_constant() ? e.constant() : -1);
    v.symbols.push_back(e.is_constant() ? "" : e.text());
    named |= !v.symbols.back().empty();
  }
  if (!named) v.symbols.clear();
  if (seen.value.defined() && seen.value.size() <= most_values) v.constant = seen.value;
  return v;
}

bool is_default(const Graph &g, const std::string &name) { return g.value(name).constant.defined(); }

}  // namespace

const InferredValue *Inferred::find(const std::string &name) const {
  const auto it = values.find(name);
  return it == values.end() ? nullptr : &it->second;
}

bool Inferred::covers(const Graph &graph) const {
  for (const Graph::Node &n : graph.nodes)
    for (const std::string &o : n.outputs)
      if (!o.empty() && !names.count(o)) return false;
  return true;
}

Inferred infer_shapes(const Model &model) {
  SymbolicWalk walk(model);
  walk.run();
  Inferred all;
  for (const auto &[name, seen] : walk.seen()) {
    all.names.insert(name);
    if (!name.empty() && seen.known) all.values.emplace(name, inferred(seen));
  }
  return all;
}

Model with_inferred_shapes(Model model) {
  Model taken = model;
  std::vector<std::string> &inputs = taken.graph.inputs;
  inputs.erase(
      std::remove_if(inputs.begin(), inputs.end(), [&](const std::string &i) { return is_default(taken.graph, i); }),
      inputs.end());
  const std::set<std::string> given_inputs(model.graph.inputs.begin(), model.graph.inputs.end());
  for (auto &[name, v] : infer_shapes(taken).values) {
    const auto given = model.graph.values.find(name);
    if (given_inputs.count(name) || (given != model.graph.values.end() && given->second.constant.defined())) continue;
    v.constant = {};
    // A file may know an extent that could not be told.
    if (given != model.graph.values.end() && given->second.ranked && given->second.shape.size() == v.shape.size())
      for (size_t d = 0; d < v.shape.size(); ++d)
        if (v.shape[d] < 0 && v.symbol(d).empty() &&
            (given->second.shape[d] >= 0 || !given->second.symbol(d).empty())) {
          v.shape[d] = given->second.shape[d];
          v.symbols.resize(v.shape.size());
          v.symbols[d] = given->second.symbol(d);
        }
    model.graph.values[name] = v;
  }
  return model;
}

void expect_no_decision_by_sizes(const Model &model) {
  SymbolicWalk walk(model);
  walk.run();
  if (!walk.decides_by_sizes().empty())
    unsupported(walk.decides_by_sizes(),
                " computes with a size that is open: it may do something else for some of them");
}

}  // namespace saltern
