#include "generators/model/emitters.h"
#include "generators/model/formula_code.h"
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

EmittedKernel emit_formula(const Graph &graph, const Group &group) {
  const Graph::Node &node = group.anchor();
  const formula::Expression element = node.attributes.expression("element");
  Graph::Value result = graph.value(group.output());
  // An image of one pixel, as a mean over pixels is, is one with its channels innermost, too: vectors run along those.
  if (result.shape.size() == 4 && result.shape[2] * result.shape[3] == 1) result.layout = Layout::channels_last;
  EmittedKernel k;
  k.key = "formula " + to_string(element) + key_of(result);
  Call call;
  std::vector<Graph::Value> values;
  for (const std::string &name : node.inputs) {
    values.push_back(graph.value(name));
    k.key += key_of(values.back());
    if (elements(values.back().shape) == 0) continue;  // nothing is read of it
    k.arguments.push_back(argument(graph, name));
    call.emplace_back(k.arguments.back().extents);
  }
  k.arguments.push_back(argument(graph, group.output(), memory_extents(result), result.layout, result.type));
  k.build = [element, values, call, result](const Halide::Target &target) {
    Build b(target, Build::Schedule::own, call);
    std::vector<dsl::Tensor> operands;
    std::vector<Shape> shapes;
    for (const Graph::Value &v : values) {
      shapes.push_back(v.shape);
      operands.push_back(elements(v.shape) == 0
                             ? dsl::Tensor()
                             : b.input("operand_" + std::to_string(operands.size()),
                                       static_cast<int>(memory_extents(v).size()), storage_type(v.type)));
    }
    const FormulaPlace place(result);
    const FormulaCode code = formula_code(element, place.at, result.shape, shapes,
                                          [&](int operand, const std::vector<Halide::Expr> &indices) {
                                            const auto i = static_cast<size_t>(operand);
                                            std::vector<Halide::Expr> in_memory;
                                            for (int d : memory_order(values[i]))
                                              in_memory.push_back(indices[static_cast<size_t>(d)]);
                                            if (in_memory.empty()) in_memory.emplace_back(0);
                                            return operands[i](in_memory);
                                          });
    Halide::Func y("element");
    y(place.vars) = code.element;
    const Halide::Func out = b.output("y", {y, place.extents});
    b.schedule([&](const Machine &m) {
      std::vector<schedules::FormulaStage> stages;
      const int innermost = memory_order(result).empty() ? -1 : memory_order(result)[0];
      for (const FormulaReduction &r : code.reductions) {
        int along = -1;  // the argument that the result's vectors run along
        for (size_t a = 0; a < r.axes.size(); ++a)
          if (r.axes[a] == innermost) along = static_cast<int>(a);
        bool nested = false;
        for (int a : r.axes) nested |= a < 0;
        stages.push_back({r.func, along, nested});
      }
      schedules::formula(out, stages, memory_extents(result)[0], m);
    });
    b.finish(nullptr);
    return b;
  };
  return k;
}

}  // namespace saltern::generators
