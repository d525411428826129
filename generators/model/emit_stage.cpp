#include <algorithm>

#include "generators/model/emitters.h"
#include "generators/model/merged_axes.h"
#include "runtime/graph/formula_node.h"

namespace saltern::generators {

using formula::Expression;
using formula::Value;

namespace {

// The dimensions of a value as they lie in memory, the outermost first.
std::vector<int> outermost_first(const Graph::Value &v) {
  std::vector<int> order = memory_order(v);
  std::reverse(order.begin(), order.end());
  return order;
}

// The same stage, its dimensions in another order: dimension d is what order[d] was.
Value with_dimensions_in(const std::vector<int> &order, const Value &v) {
  formula::Stage s = *v.get();
  std::vector<Expression> by;
  for (size_t i = 0; i < s.extents.size(); ++i) by.push_back(formula::axis(static_cast<int>(i)));
  for (size_t d = 0; d < order.size(); ++d) {
    const auto was = static_cast<size_t>(order[d]);
    s.extents[d] = v->extents[was];
    if (s.is_scatter()) s.targets[d] = v->targets[was];
    if (v->along == order[d]) s.along = static_cast<int>(d);
    by[was] = formula::axis(static_cast<int>(d));
  }
  s.element = with_axes(s.element, by);
  for (Expression &t : s.targets) t = with_axes(t, by);
  if (s.is_scan()) s.before = with_axes(s.before, by);
  return stage(std::move(s));
}

}  // namespace

EmittedKernel emit_stage(const Graph &graph, const Group &group) {
  const Graph::Node &node = group.anchor();
  const Graph::Value &result = graph.value(group.output());
  formula::Values inputs, operands;
  EmittedKernel k;
  for (const std::string &name : node.inputs) {
    const Graph::Value &v = graph.value(name);
    const bool is_read = elements(v.shape) > 0;
    const Value stored = is_read ? stored_input("operand_" + std::to_string(inputs.size()), v) : Value();
    operands.push_back(formula::inlined({v.shape.begin(), v.shape.end()}, [&](const formula::Axes &at) {
      return is_read ? stored_element(stored, v, at) : formula::constant(v.type, 0);
    }));
    if (!is_read) continue;
    inputs.push_back(stored);
    k.arguments.push_back(argument(graph, name));
  }
  k.arguments.push_back(argument(graph, group.output()));
  const Value whole = with_dimensions_in(outermost_first(result), value_of(formula_of(graph, node), operands));
  const MergedAxes merged = merged_axes(inputs, {whole});
  for (size_t i = 0; i < inputs.size(); ++i) k.arguments[i].extents = innermost_first(merged.inputs[i]);
  k.arguments.back().extents = innermost_first(merged.outputs[0]);
  k.key = "stage " + to_string(*merged.outputs[0].get());
  k.build = built_by_structure([merged] { return merged; });
  return k;
}

}  // namespace saltern::generators
