#include "runtime/onnx/sample_walk.h"

#include "runtime/onnx/control_flow.h"

namespace saltern {

namespace {

constexpr int64_t most_elements = 1 << 16;  // of inputs to what is computed here
constexpr int64_t most_kept = 4096;         // elements of a value that is passed on

Sampled unknown() { return {true, false, {}}; }

Sampled of(Type type, Shape shape, Tensor value = {}) {
  return {true, true, {"x", type, std::move(shape), std::move(value)}};
}

bool is_alike(const Sampled &a, const Sampled &b) {
  return a.present == b.present && a.known == b.known && a.operand.type == b.operand.type &&
         a.operand.shape == b.operand.shape;
}

// What the value is in every turn of a loop: its elements may be others.
Sampled without_elements(Sampled v) {
  v.operand.value = {};
  return v;
}

// Whether all that is there has elements that are known, and few enough to compute with.
bool are_few(const std::vector<Sampled> &values) {
  int64_t count = 0;
  for (const Sampled &v : values) {
    if (v.present && !v.operand.value.defined()) return false;
    if (v.present) count += v.operand.value.size();
  }
  return count <= most_elements;
}

}  // namespace

std::string extent_name(const std::string &input, const Graph::Value &v, size_t d) {
  return v.symbol(d).empty() ? "?" + input + "?" + std::to_string(d) : v.symbol(d);
}

void SampleWalk::run(const std::map<std::string, int64_t> &extents) {
  const Graph &g = model().graph;
  open_ = !extents.empty();
  for (const Graph::Node &n : g.nodes) own_[&n] = true;
  Values inputs;
  for (const std::string &name : g.inputs) {
    inputs.push_back(input(name, extents));
    seen_[name] = inputs.back();
  }
  walk(g, inputs, nullptr);
}

Sampled SampleWalk::input(const std::string &name, const std::map<std::string, int64_t> &extents) const {
  const Graph::Value &v = model().graph.value(name);
  if (v.constant.defined()) return of(v.type, v.constant.shape(), v.constant);
  if (v.container != Graph::Container::tensor || !v.ranked) return unknown();
  Shape shape = v.shape;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] < 0) shape[d] = extents.at(extent_name(name, v, d));
  return of(v.type, shape);
}

Sampled SampleWalk::constant(const std::string &, const Tensor &value) {
  return of(value.type(), value.shape(), value);
}

SampleWalk::Values SampleWalk::computed(const Graph::Node &n, const Values &inputs, const Names &here) {
  Values results;
  try {
    results = GraphWalk::computed(n, inputs, here);
  } catch (const std::exception &) {  // this sample does not fit, or only a run can tell
    results.clear();
  }
  results.resize(std::max(results.size(), n.outputs.size()), unknown());
  if (own_.count(&n))
    for (size_t o = 0; o < n.outputs.size(); ++o) seen_[n.outputs[o]] = results[o];
  return results;
}

SampleWalk::Values SampleWalk::apply(const Operator &op, const Graph::Node &n, int64_t opset, const Values &inputs) {
  // Which extents are 1 is the one question whose answer another sample would change the rank with.
  const bool all_ones =
      n.operation == "Squeeze" && !n.attributes.has("axes") && (inputs.size() < 2 || !inputs[1].present);
  if (open_ && all_ones) return {};
  std::vector<Operand> operands;
  std::vector<HostValue> values;
  for (const Sampled &v : inputs) {
    if (v.present && !v.known) return {};
    operands.push_back(v.operand);
    operands.back().name = v.present ? "input" + std::to_string(operands.size()) : "";
    values.push_back(v.operand.value.defined() ? HostValue(v.operand.value) : HostValue());
  }
  Values results;
  bool few = are_few(inputs) && !is_random(n);
  if (op.lower &&
      std::none_of(operands.begin(), operands.end(), [](const Operand &o) { return o.type == Type::text; })) {
    Graph scratch;
    for (const Operand &o : operands)
      if (o.present()) scratch.values[o.name] = {o.shape, o.type, {}};
    Lowering lowering(n, opset, operands, scratch);
    op.lower(lowering);
    for (const Operand &o : lowering.given()) {
      results.push_back(o.present() ? of(o.type, o.shape, o.value) : Sampled());
      few &= elements(o.shape) <= most_kept;
    }
    const auto is_known = [](const Sampled &r) { return !r.present || r.operand.value.defined(); };
    if (!few || std::all_of(results.begin(), results.end(), is_known)) return results;
  }
  if (!few) return results;
  results.clear();
  for (const HostValue &v : compute_operator(op, n, opset, values))
    results.push_back(v.is_tensor()  ? of(v.tensor().type(), v.tensor().shape(), v.tensor())
                      : v.is_empty() ? Sampled()
                                     : unknown());
  return results;
}

SampleWalk::Values SampleWalk::control_flow(const Graph::Node &n, int64_t opset, const Values &inputs,
                                            const Names &here) {
  if (n.operation == "If") return branch(n, inputs, here);
  if (n.operation == "Loop") return loop(n, inputs, here);
  if (n.operation == "Scan") return scan(n, opset, inputs, here);
  return {};
}

// One branch where it is known which; else what both agree on.
SampleWalk::Values SampleWalk::branch(const Graph::Node &n, const Values &inputs, const Names &here) {
  const Tensor &condition = inputs.at(0).operand.value;
  const Graph &then = n.attributes.graph("then_branch"), &otherwise = n.attributes.graph("else_branch");
  if (condition.defined()) return walk(condition.integers().at(0) != 0 ? then : otherwise, {}, &here);
  Values both = walk(then, {}, &here);
  const Values other = walk(otherwise, {}, &here);
  for (size_t o = 0; o < both.size(); ++o)
    both[o] = o < other.size() && is_alike(both[o], other[o]) ? without_elements(both[o]) : unknown();
  return both;
}

// The body's results in any turn. A state whose shape a turn changes is unknown, and the body is walked again with it.
SampleWalk::Values SampleWalk::turn(const Graph &body, const Values &inputs, size_t first_state, size_t first_result,
                                    size_t states, const Names &here) {
  Values given = inputs;
  for (size_t s = 0; s < states; ++s) given[first_state + s] = without_elements(given[first_state + s]);
  for (bool changed = true; changed;) {
    changed = false;
    Values results = walk(body, given, &here);
    for (size_t s = 0; s < states; ++s) {
      Sampled &state = given[first_state + s];
      if (is_alike(state, results.at(first_result + s)) || (state.present && !state.known)) continue;
      state = unknown();
      changed = true;
    }
    if (!changed) return results;
  }
  return {};
}

SampleWalk::Values SampleWalk::loop(const Graph::Node &n, const Values &inputs, const Names &here) {
  const Graph &body = n.attributes.graph("body");
  if (inputs.size() < 2 || body.inputs.size() != inputs.size() || body.outputs.size() + 1 < inputs.size()) return {};
  Values given = {of(Type::i64, {}), of(Type::boolean, {}, Tensor::of<bool>({}, {true}))};
  given.insert(given.end(), inputs.begin() + 2, inputs.end());
  const size_t states = inputs.size() - 2;
  Values results = turn(body, given, 2, 1, states, here);
  // It ends before its count unless the condition never changes.
  const Tensor &count = inputs[0].operand.value, &first = inputs[1].operand.value, &next = results[0].operand.value;
  const auto goes_on = [](const Tensor &t) { return t.defined() && t.integers().at(0) != 0; };
  const bool counted = count.defined() && (!inputs[1].present || goes_on(first)) && goes_on(next);
  for (size_t o = 1; o < results.size(); ++o) {
    Sampled &r = results[o];
    r = o <= states && !is_alike(r, inputs[o + 1]) ? unknown() : without_elements(r);
    if (o <= states) continue;
    if (counted && r.known)
      r.operand.shape.insert(r.operand.shape.begin(), std::max<int64_t>(count.integers().at(0), 0));
    else
      r = unknown();
  }
  results.erase(results.begin());
  return results;
}

SampleWalk::Values SampleWalk::scan(const Graph::Node &n, int64_t opset, const Values &inputs, const Names &here) {
  const ScanOrder s = scan_order(n, opset, inputs.size());
  if (opset < 9) return {};
  Values given = inputs;
  int64_t length = -1;
  for (size_t i = 0; i < s.scans; ++i) {
    Sampled &v = given[s.states + i];
    if (!v.known) return {};
    v = without_elements(v);
    Shape &shape = v.operand.shape;
    const int64_t axis = i < s.input_axes.size() ? s.input_axes[i] : 0, rank = static_cast<int64_t>(shape.size());
    if (axis < -rank || axis >= rank) return {};
    const auto at = shape.begin() + (axis < 0 ? axis + rank : axis);
    length = *at;
    shape.erase(at);
  }
  Values results = turn(n.attributes.graph("body"), given, 0, 0, s.states, here);
  for (size_t o = 0; o < results.size(); ++o) {
    Sampled &r = results[o];
    r = without_elements(r);
    if (o < s.states && !is_alike(r, inputs[o])) r = unknown();
    if (o < s.states || !r.known) continue;
    Shape &shape = r.operand.shape;
    const int64_t axis = o - s.states < s.output_axes.size() ? s.output_axes[o - s.states] : 0;
    const int64_t rank = static_cast<int64_t>(shape.size()) + 1;
    if (axis < -rank || axis >= rank) return {};
    shape.insert(shape.begin() + (axis < 0 ? axis + rank : axis), length);
  }
  return results;
}

}  // namespace saltern
