#include "generators/model/emitters.h"
#include "generators/model/views.h"
#include "runtime/onnx/operators/axis.h"

namespace saltern::generators {

namespace {

// The part that holds `place` among those in [first, last), found by halves: the choice among many stays short.
formula::Expression chosen(const std::vector<formula::Expression> &parts, const std::vector<int64_t> &begins,
                           const formula::Expression &place, size_t first, size_t last) {
  if (last - first == 1) return parts[first];
  const size_t middle = (first + last) / 2;
  return select(place < begins[middle], chosen(parts, begins, place, first, middle),
                chosen(parts, begins, place, middle, last));
}

}  // namespace

EmittedKernel emit_concat(const Graph &graph, const Group &group) {
  const Graph::Node &node = group.anchor();
  const Graph::Value &whole = graph.value(node.outputs[0]);
  const auto rank = static_cast<int64_t>(whole.shape.size());
  const auto axis = static_cast<size_t>(axis_within(node.attributes.integer("axis"), rank));
  std::vector<formula::Expression> at, parts;
  for (int d = 0; d < static_cast<int>(rank); ++d) at.push_back(formula::axis(d));
  const formula::Expression place = at[axis];
  std::vector<int64_t> begins;
  int64_t begin = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    at[axis] = place - begin;
    parts.push_back(formula::load(static_cast<int>(i), whole.type, at));
    begins.push_back(begin);
    begin += graph.value(node.inputs[i]).shape.at(axis);
  }
  Graph::Node joined = node;
  joined.operation = "formula";
  joined.attributes = {{"element", chosen(parts, begins, place, 0, parts.size())}};
  return emit_formula(graph, {{joined}});
}

EmittedKernel emit_part(const Graph &graph, const Graph::Node &concat, size_t input, const Piece &place) {
  const Graph::Value &v = graph.value(concat.inputs[input]);
  const std::vector<int> extents = memory_extents(v);
  EmittedKernel k;
  k.key = "copy" + key_of(v);
  k.arguments = {argument(graph, concat.inputs[input]), argument(graph, concat.outputs[0])};
  k.arguments[1].extents = extents;
  k.arguments[1].part = place;
  k.can_fail = false;
  k.build = built_by_structure([v] {
    const formula::Value x = stored_input("x", v);
    return MergedAxes{{x}, {x}};
  });
  return k;
}

}  // namespace saltern::generators
