#pragma once
// Operators of imported graphs that walk graphs of their own: If, Loop, Scan, SequenceMap, FlexAttention.

#include "runtime/onnx/operators/axis.h"
#include "runtime/onnx/walk.h"

namespace saltern {

// What a scanned output is when no turn was taken: no elements, of the shape that the body declares.
Tensor nothing_of(const Graph &body, size_t output);

// What the body declares an output to be, or f32.
Type declared_type(const Graph &body, size_t output);

// How a Scan goes along its inputs and outputs.
struct ScanOrder {
  size_t states, scans;
  std::vector<int64_t> input_axes, input_directions, output_axes, output_directions;
};
ScanOrder scan_order(const Graph::Node &node, int64_t opset, size_t inputs);

// FlexAttention is three parts, operators of Saltern's own (operators/attention.cpp); graphs that change its scores and its
// probabilities stand between them.
template <typename Value>
std::vector<Value> flex_attention(GraphWalk<Value> &walk, const Graph::Node &node, int64_t opset,
                                  const std::vector<Value> &inputs, const Scope<Value> &here) {
  if (inputs.size() != 3 || node.outputs.size() != 1) fail("is expected to have query, key and value, and one result");
  const auto part = [&](const char *name, const std::vector<Value> &of) {
    return walk.apply(*find_operator("saltern", name), node, opset, of).at(0);
  };
  const auto modified = [&](const char *which, const Value &x) {
    if (!node.attributes.has(which)) return x;
    const Graph &g = node.attributes.graph(which);
    if (g.inputs.size() != 1 || g.outputs.size() != 1) fail(which, " is expected to have one input and one output");
    return walk.walk(g, {x}, &here)[0];
  };
  const Value scores = modified("score_mod", part("FlexScores", {inputs[0], inputs[1]}));
  return {part("FlexValues", {modified("prob_mod", part("FlexWeights", {scores})), inputs[2]})};
}

// One node of a GraphWalk that also does what loops do with its values:
//
//   bool absent(v);
//   bool truth(v); int64_t count(v);                throw where it is not one boolean, or one number, that is known
//   const Shape &shape(v);
//   Value taken(node, v, axis, i);                  place i of an axis, without that axis
//   Value stacked(node, parts, axis);               of one shape along a new axis; negative ones count from the end
//   const Values *elements(v);                      of a sequence; null where it is none
//   Value sequence(elements, type);
//   void begin(turn);                               throws when there are too many
template <typename Walk>
class ControlFlow {
 public:
  using Values = typename Walk::Values;
  using Value = typename Values::value_type;
  using Names = typename Walk::Names;

  ControlFlow(Walk &walk, const Graph::Node &node, const Names &here) : walk_(walk), node_(node), here_(here) {}

  Values results(int64_t opset, const Values &inputs) {
    if (node_.operation == "If") return branch(inputs);
    if (node_.operation == "Loop") return loop(inputs);
    if (node_.operation == "SequenceMap") return map_of(inputs);
    if (node_.operation == "FlexAttention") return flex_attention<Value>(walk_, node_, opset, inputs, here_);
    const ScanOrder order = scan_order(node_, opset, inputs.size());
    return opset < 9 ? scan_of_batch(order, inputs) : scan(order, inputs);
  }

 private:
  const Graph &body() const { return node_.attributes.graph("body"); }

  Values branch(const Values &inputs) {
    const bool first = walk_.truth(inputs.at(0));
    return walk_.walk(node_.attributes.graph(first ? "then_branch" : "else_branch"), {}, &here_);
  }

  Values loop(const Values &inputs) {
    if (inputs.size() < 2 || body().inputs.size() < 2)
      fail("a loop has a count, a condition and a body that takes both");
    const size_t carried = inputs.size() - 2;
    if (body().inputs.size() != carried + 2 || body().outputs.size() < carried + 1)
      fail("its body takes ", body().inputs.size(), " inputs and gives ", body().outputs.size(), " outputs for ",
           carried, " carried values");
    const bool endless = walk_.absent(inputs[0]);
    const int64_t count = endless ? 0 : walk_.count(inputs[0]);
    bool going = walk_.absent(inputs[1]) || walk_.truth(inputs[1]);
    Values state(inputs.begin() + 2, inputs.end());
    std::vector<Values> scanned(body().outputs.size() - carried - 1);
    for (int64_t turn = 0; going && (endless || turn < count); ++turn) {
      walk_.begin(turn);
      Values given = {walk_.constant("turn", Tensor::of<int64_t>({}, {turn})),
                      walk_.constant("going", Tensor::of<bool>({}, {true}))};
      given.insert(given.end(), state.begin(), state.end());
      const Values results = walk_.walk(body(), given, &here_);
      going = walk_.truth(results[0]);
      std::copy_n(results.begin() + 1, carried, state.begin());
      for (size_t s = 0; s < scanned.size(); ++s) scanned[s].push_back(results[1 + carried + s]);
    }
    for (size_t s = 0; s < scanned.size(); ++s) state.push_back(joined(scanned[s], 1 + carried + s, 0));
    return state;
  }

  // The body for each sample: the elements of sequences at one place, and tensors as they are.
  Values map_of(const Values &inputs) {
    if (inputs.empty() || !walk_.elements(inputs[0])) fail("its first input is no sequence");
    const size_t count = walk_.elements(inputs[0])->size();
    std::vector<Values> made(body().outputs.size());
    for (size_t i = 0; i < count; ++i) {
      walk_.begin(static_cast<int64_t>(i));
      Values given;
      for (const Value &v : inputs) {
        const Values *all = walk_.elements(v);
        if (all && all->size() != count) fail("sequences of ", count, " and ", all->size(), " elements");
        given.push_back(all ? (*all)[i] : v);
      }
      const Values results = walk_.walk(body(), given, &here_);
      for (size_t o = 0; o < made.size(); ++o) made[o].push_back(results.at(o));
    }
    Values all;
    for (size_t o = 0; o < made.size(); ++o)
      all.push_back(walk_.sequence(std::move(made[o]), declared_type(body(), o)));
    return all;
  }

  // What all turns gave for one of the body's outputs.
  Value joined(const Values &parts, size_t output, int64_t axis) {
    return parts.empty() ? walk_.constant("none", nothing_of(body(), output)) : walk_.stacked(node_, parts, axis);
  }

  // `inputs` are the states, then the scanned values.
  Values scan(const ScanOrder &s, const Values &inputs) {
    std::vector<int> axes;
    int64_t length = -1;
    for (size_t i = 0; i < s.scans; ++i) {
      const Shape &shape = walk_.shape(inputs[s.states + i]);
      axes.push_back(axis_within(i < s.input_axes.size() ? s.input_axes[i] : 0, static_cast<int64_t>(shape.size())));
      const int64_t extent = shape[static_cast<size_t>(axes.back())];
      if (length >= 0 && extent != length) fail("scanned inputs of ", length, " and ", extent, " elements");
      length = extent;
    }
    Values state(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(s.states));
    std::vector<Values> scanned(body().outputs.size() - s.states);
    for (int64_t turn = 0; turn < length; ++turn) {
      walk_.begin(turn);
      Values given = state;
      for (size_t i = 0; i < s.scans; ++i) {
        const bool back = i < s.input_directions.size() && s.input_directions[i] != 0;
        given.push_back(walk_.taken(node_, inputs[s.states + i], axes[i], back ? length - 1 - turn : turn));
      }
      const Values results = walk_.walk(body(), given, &here_);
      std::copy_n(results.begin(), s.states, state.begin());
      for (size_t o = 0; o < scanned.size(); ++o) scanned[o].push_back(results.at(s.states + o));
    }
    for (size_t o = 0; o < scanned.size(); ++o) {
      if (o < s.output_directions.size() && s.output_directions[o] != 0)
        std::reverse(scanned[o].begin(), scanned[o].end());
      state.push_back(joined(scanned[o], s.states + o, o < s.output_axes.size() ? s.output_axes[o] : 0));
    }
    return state;
  }

  // Before opset 9 there is a batch in front of everything, and the lengths of its sequences as the first input.
  Values scan_of_batch(const ScanOrder &s, const Values &inputs) {
    if (!walk_.absent(inputs.at(0))) unsupported("sequence lengths of Scan 8");
    const Shape shape = walk_.shape(inputs.at(1));
    if (shape.empty()) fail("expected a batch in front of ", to_string(shape));
    std::vector<Values> parts;
    for (int64_t b = 0; b < shape[0]; ++b) {
      Values given;
      for (size_t i = 1; i < inputs.size(); ++i) given.push_back(walk_.taken(node_, inputs[i], 0, b));
      const Values results = scan(s, given);
      parts.resize(results.size());
      for (size_t r = 0; r < results.size(); ++r) parts[r].push_back(results[r]);
    }
    Values all;
    for (const Values &p : parts) all.push_back(walk_.stacked(node_, p, 0));
    return all;
  }

  Walk &walk_;
  const Graph::Node &node_;
  const Names &here_;
};

}  // namespace saltern
