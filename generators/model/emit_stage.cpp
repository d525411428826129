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

// What a kernel reads, as it lies in memory; and what the node takes it for.
struct SeenOperand {
  Value in_memory, as_given;
};

SeenOperand seen(const Graph::Value &v, const std::string &name) {
  const std::vector<int> extents = memory_extents(v), order = outermost_first(v);
  SeenOperand o;
  if (elements(v.shape) == 0) {  // nothing is read of it
    o.as_given = formula::inlined({v.shape.begin(), v.shape.end()},
                                  [&](const formula::Axes &) { return formula::constant(v.type, 0); });
    return o;
  }
  o.in_memory = formula::input(name, {extents.rbegin(), extents.rend()}, v.type);
  o.as_given = formula::inlined({v.shape.begin(), v.shape.end()}, [&](const formula::Axes &at) {
    std::vector<Expression> place;
    for (int d : order) place.push_back(at[static_cast<size_t>(d)]);
    if (place.empty()) place.emplace_back(0);  // a single element
    return o.in_memory.at(place);
  });
  return o;
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

std::vector<int> innermost_first(const Value &v) {
  std::vector<int> extents;
  for (int d = v.rank(); d-- > 0;) extents.push_back(static_cast<int>(formula::number_of(v.extent(d), {})));
  return extents;
}

}  // namespace

EmittedKernel emit_stage(const Graph &graph, const Group &group) {
  const Graph::Node &node = group.anchor();
  const formula::ExactFormula f = formula_of(graph, node);
  const Graph::Value &result = graph.value(group.output());
  formula::Values inputs, operands;
  EmittedKernel k;
  for (const std::string &name : node.inputs) {
    const SeenOperand o = seen(graph.value(name), "operand_" + std::to_string(inputs.size()));
    operands.push_back(o.as_given);
    if (!o.in_memory.defined()) continue;
    inputs.push_back(o.in_memory);
    k.arguments.push_back(argument(graph, name));
  }
  k.arguments.push_back(argument(graph, group.output()));
  const Value whole = with_dimensions_in(outermost_first(result), value_of(f, operands));
  const MergedAxes merged = merged_axes(inputs, {whole});
  inputs = merged.inputs;
  const Value y = merged.outputs[0];
  Call call;
  for (size_t i = 0; i < inputs.size(); ++i) call.emplace_back(k.arguments[i].extents = innermost_first(inputs[i]));
  k.arguments.back().extents = innermost_first(y);
  k.key = "stage " + to_string(*y.get());
  k.build = [inputs, y, call](const Halide::Target &target) {
    Build b(target, Build::Schedule::own, call);
    for (const Value &v : inputs) b.declare(v);
    b.output("y", y);
    b.schedule_by_structure();
    b.finish(nullptr);
    return b;
  };
  return k;
}

}  // namespace saltern::generators
