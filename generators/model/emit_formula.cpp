#include <algorithm>

#include "generators/model/emitters.h"
#include "generators/model/flat_formula.h"
#include "generators/model/formula_code.h"
#include "generators/model/formula_structure.h"
#include "schedules/patterns/formula.h"

namespace saltern::generators {

FormulaPlace::FormulaPlace(const Graph::Value &v) : at(v.shape.size()) {
  for (int d : memory_order(v)) {
    vars.emplace_back("d" + std::to_string(d));
    at[static_cast<size_t>(d)] = vars.back();
    extents.emplace_back(static_cast<int>(v.shape[static_cast<size_t>(d)]));
  }
  if (vars.empty()) {
    vars.emplace_back("only");
    extents.emplace_back(1);
  }
}

namespace {

bool reduces(const formula::Expression &element) {
  bool found = false;
  formula::for_each_node(element, [&](const auto &n) { found |= n.kind == formula::Expression::Kind::reduce; });
  return found;
}

// What the schedule asks of a reduction, by dimensions of memory.
schedules::FormulaStage stage_of(const FormulaReduction &r, const std::vector<int> &order) {
  schedules::FormulaStage stage = {r.func, {}, r.parts, r.steps};
  for (int axis : r.axes)
    stage.dimensions.push_back(
        axis < 0 ? -1 : static_cast<int>(std::find(order.begin(), order.end(), axis) - order.begin()));
  return stage;
}

// The same memory, with the dimensions that the formula has of it.
EmittedArgument seen_as(const Graph::Value &flat, EmittedArgument a) {
  a.extents = memory_extents(flat);
  return a;
}

}  // namespace

EmittedKernel emit_formula(const Graph &graph, const Group &group) {
  const Graph::Node &node = group.anchor();
  FlatFormula f = {node.attributes.expression("element"), graph.value(group.output()), {}};
  for (const std::string &name : node.inputs) f.operands.push_back(graph.value(name));
  // Whatever else they do, formulas that only move elements read and write parts of joins in their places, which asks
  // for all dimensions (homes.h).
  if (reduces(f.element)) f = flattened(f.element, f.result, f.operands);
  EmittedKernel k;
  k.key = "formula " + to_string(f.element) + key_of(f.result);
  Call call;
  for (size_t i = 0; i < f.operands.size(); ++i) {
    k.key += key_of(f.operands[i]);
    if (elements(f.operands[i].shape) == 0) continue;  // nothing is read of it
    k.arguments.push_back(seen_as(f.operands[i], argument(graph, node.inputs[i])));
    call.emplace_back(k.arguments.back().extents);
  }
  k.arguments.push_back(seen_as(f.result, argument(graph, group.output())));
  k.build = [f, call](const Halide::Target &target) {
    Build b(target, Build::Schedule::own, call);
    std::vector<forms::Tensor> operands;
    std::vector<Shape> shapes;
    for (const Graph::Value &v : f.operands) {
      shapes.push_back(v.shape);
      operands.push_back(elements(v.shape) == 0
                             ? forms::Tensor()
                             : b.input("operand_" + std::to_string(operands.size()),
                                       static_cast<int>(memory_extents(v).size()), storage_type(v.type)));
    }
    const FormulaPlace place(f.result);
    const ReadOperand read = [&](int operand, const std::vector<Halide::Expr> &indices) {
      const auto i = static_cast<size_t>(operand);
      std::vector<Halide::Expr> in_memory;
      for (int d : memory_order(f.operands[i])) in_memory.push_back(indices[static_cast<size_t>(d)]);
      if (in_memory.empty()) in_memory.emplace_back(0);
      return operands[i](in_memory);
    };
    const std::vector<int> order = memory_order(f.result);
    const FormulaCode code =
        formula_code(f.element, place.at, f.result.shape, shapes, read, [&](const formula::Expression::Node &n) {
          return row_split(n, order.empty() ? -1 : order[0], Machine::of(target));
        });
    Halide::Func y("element");
    y(place.vars) = code.element;
    const Halide::Func out = b.output("y", {y, place.extents});
    b.schedule([&](const Machine &m) {
      std::vector<schedules::FormulaStage> stages;
      for (const FormulaReduction &r : code.reductions) stages.push_back(stage_of(r, order));
      schedules::formula(out, stages, memory_extents(f.result), m);
    });
    b.finish(nullptr);
    return b;
  };
  return k;
}

}  // namespace saltern::generators
