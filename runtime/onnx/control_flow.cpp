#include "runtime/onnx/control_flow.h"

#include <algorithm>
#include <set>

#include "runtime/operators/lowering.h"
#include "runtime/operators/parts.h"

namespace saltern {

namespace {

using Values = std::vector<HostValue>;

constexpr int64_t most_turns = int64_t{1} << 24;  // a loop that runs longer is taken for one that never ends

bool truth(const HostValue &v) {
  const Tensor &t = v.tensor();
  if (t.type() != Type::boolean || t.size() != 1) fail("a condition is expected to be one boolean");
  return *t.data<bool>();
}

Values run_if(const Graph::Node &node, const Values &inputs, GraphRunner &runner, const void *scope) {
  const Graph &branch = node.attributes.graph(truth(inputs.at(0)) ? "then_branch" : "else_branch");
  return runner.run_body(branch, {}, scope);
}

// What a scan output gives when no turn was taken: no elements, of the shape that the body declares.
Tensor nothing_of(const Graph &body, size_t output) {
  const auto declared = body.values.find(body.outputs[output]);
  Shape shape = {0};
  Type type = Type::f32;
  if (declared != body.values.end()) {
    type = declared->second.type;
    for (int64_t e : declared->second.shape) shape.push_back(std::max<int64_t>(e, 0));
  }
  return Tensor::zeros(shape, type);
}

Values run_loop(const Graph::Node &node, const Values &inputs, GraphRunner &runner, const void *scope) {
  const Graph &body = node.attributes.graph("body");
  if (inputs.size() < 2 || body.inputs.size() < 2) fail("a loop has a count, a condition and a body that takes both");
  const size_t carried = inputs.size() - 2;
  if (body.inputs.size() != carried + 2 || body.outputs.size() < carried + 1)
    fail("its body takes ", body.inputs.size(), " inputs and gives ", body.outputs.size(), " outputs for ", carried,
         " carried values");
  const int64_t count = inputs[0].is_empty() ? most_turns : inputs[0].tensor().integers().at(0);
  bool going = inputs[1].is_empty() || truth(inputs[1]);
  Values state(inputs.begin() + 2, inputs.end());
  std::vector<std::vector<Tensor>> scanned(body.outputs.size() - carried - 1);
  for (int64_t turn = 0; turn < count && going; ++turn) {
    if (turn == most_turns) fail("a loop of more than ", most_turns, " turns");
    Values given = {Tensor::of<int64_t>({}, {turn}), Tensor::of<bool>({}, {true})};
    given.insert(given.end(), state.begin(), state.end());
    const Values results = runner.run_body(body, given, scope);
    going = truth(results.at(0));
    std::copy_n(results.begin() + 1, carried, state.begin());
    for (size_t s = 0; s < scanned.size(); ++s) scanned[s].push_back(results.at(1 + carried + s).tensor());
  }
  for (size_t s = 0; s < scanned.size(); ++s)
    state.emplace_back(scanned[s].empty() ? nothing_of(body, 1 + carried + s) : stacked(scanned[s], 0));
  return state;
}

struct ScanShape {
  size_t states, scans;
  std::vector<int64_t> input_axes, input_directions, output_axes, output_directions;
};

// One walk over the scanned inputs; `inputs` are the states, then the scanned tensors.
Values run_scan(const Graph &body, const ScanShape &s, const Values &inputs, GraphRunner &runner, const void *scope) {
  Values state(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(s.states));
  int64_t length = -1;
  std::vector<int> axes;
  for (size_t i = 0; i < s.scans; ++i) {
    const Tensor &t = inputs[s.states + i].tensor();
    const int64_t given = i < s.input_axes.size() ? s.input_axes[i] : 0;
    if (given < -t.rank() || given >= t.rank()) fail("scan axis ", given, " of ", to_string(t.shape()));
    axes.push_back(static_cast<int>(given < 0 ? given + t.rank() : given));
    const int64_t extent = t.extent(axes.back());
    if (length >= 0 && extent != length) fail("scanned inputs of ", length, " and ", extent, " elements");
    length = extent;
  }
  const size_t outputs = body.outputs.size() - s.states;
  std::vector<std::vector<Tensor>> scanned(outputs);
  for (int64_t turn = 0; turn < length; ++turn) {
    Values given = state;
    for (size_t i = 0; i < s.scans; ++i) {
      const bool back = i < s.input_directions.size() && s.input_directions[i] != 0;
      given.emplace_back(taken(inputs[s.states + i].tensor(), axes[i], back ? length - 1 - turn : turn));
    }
    const Values results = runner.run_body(body, given, scope);
    std::copy_n(results.begin(), s.states, state.begin());
    for (size_t o = 0; o < outputs; ++o) scanned[o].push_back(results.at(s.states + o).tensor());
  }
  for (size_t o = 0; o < outputs; ++o) {
    if (o < s.output_directions.size() && s.output_directions[o] != 0)
      std::reverse(scanned[o].begin(), scanned[o].end());
    const int64_t axis = o < s.output_axes.size() ? s.output_axes[o] : 0;
    state.emplace_back(scanned[o].empty() ? nothing_of(body, s.states + o) : stacked(scanned[o], axis));
  }
  return state;
}

// Before opset 9 there is a batch in front of everything, and the lengths of its sequences as the first input.
Values run_old_scan(const Graph &body, const ScanShape &s, const Values &inputs, GraphRunner &runner,
                    const void *scope) {
  if (!inputs.at(0).is_empty()) unsupported("sequence lengths of Scan 8");
  const int64_t batch = inputs.at(1).tensor().extent(0);
  std::vector<std::vector<Tensor>> parts;
  for (int64_t b = 0; b < batch; ++b) {
    Values given;
    for (size_t i = 1; i < inputs.size(); ++i) given.emplace_back(taken(inputs[i].tensor(), 0, b));
    const Values results = run_scan(body, s, given, runner, scope);
    parts.resize(results.size());
    for (size_t r = 0; r < results.size(); ++r) parts[r].push_back(results[r].tensor());
  }
  Values all;
  for (const std::vector<Tensor> &p : parts) all.emplace_back(stacked(p, 0));
  return all;
}

// The body for each sample: the elements of sequences at one place, and tensors as they are.
Values run_sequence_map(const Graph &body, const Values &inputs, GraphRunner &runner, const void *scope) {
  const size_t count = inputs.at(0).sequence().size();
  std::vector<HostValue::Sequence> results(body.outputs.size());
  for (size_t i = 0; i < count; ++i) {
    Values given;
    for (const HostValue &v : inputs) {
      if (v.is_sequence() && v.sequence().size() != count)
        fail("sequences of ", count, " and ", v.sequence().size(), " elements");
      given.push_back(v.is_sequence() ? v.sequence()[i] : v);
    }
    const Values made = runner.run_body(body, given, scope);
    for (size_t o = 0; o < results.size(); ++o) results[o].push_back(made.at(o));
  }
  Values all;
  for (size_t o = 0; o < results.size(); ++o) {
    const auto declared = body.values.find(body.outputs[o]);
    all.emplace_back(std::move(results[o]), declared == body.values.end() ? Type::f32 : declared->second.type);
  }
  return all;
}

}  // namespace

bool is_control_flow(const Graph::Node &node) {
  static const std::set<std::string> names = {"If", "Loop", "Scan", "SequenceMap"};
  return node.domain.empty() && names.count(node.operation) > 0;
}

std::vector<HostValue> run_control_flow(const Graph::Node &node, int64_t opset, const Values &inputs,
                                        GraphRunner &runner, const void *scope) {
  if (node.operation == "If") return run_if(node, inputs, runner, scope);
  if (node.operation == "Loop") return run_loop(node, inputs, runner, scope);
  const Attributes &a = node.attributes;
  const Graph &body = a.graph("body");
  if (node.operation == "SequenceMap") return run_sequence_map(body, inputs, runner, scope);
  const size_t first = opset < 9 ? 1 : 0;
  const auto scans = static_cast<size_t>(a.integer("num_scan_inputs"));
  if (inputs.size() < first + scans) fail("has ", inputs.size(), " inputs, of which ", scans, " are scanned");
  const ScanShape s = {
      inputs.size() - first - scans,      scans,
      a.integers("scan_input_axes", {}),  a.integers(opset < 9 ? "directions" : "scan_input_directions", {}),
      a.integers("scan_output_axes", {}), a.integers("scan_output_directions", {})};
  if (body.outputs.size() < s.states) fail("its body gives fewer outputs than there are states");
  return opset < 9 ? run_old_scan(body, s, inputs, runner, scope) : run_scan(body, s, inputs, runner, scope);
}

}  // namespace saltern
