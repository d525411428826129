#include "runtime/graph/formula_node.h"

#include <algorithm>
#include <map>

namespace saltern {

namespace {

std::string target(size_t d) { return "target" + std::to_string(d); }

formula::ExactFormula formula_of(const Attributes &a, const Shape &shape) {
  formula::ExactFormula f;
  f.shape = shape;
  f.element = a.expression("element");
  f.type = f.element.type();
  if (a.has("along")) {
    f.along = static_cast<int>(a.integer("along"));
    f.before = a.expression("before");
  }
  if (!a.has("space")) return f;
  f.space = a.integers("space");
  for (size_t d = 0; d < shape.size(); ++d)
    f.targets.push_back(a.has(target(d)) ? a.expression(target(d)) : formula::Expression());
  return f;
}

std::string operation_of(const formula::ExactFormula &f) {
  return f.is_scatter() ? "scatter_sum" : f.is_scan() ? "scan" : "formula";
}

Values values_of(const Values &in, const Attributes &a) {
  formula::ExactFormula f = formula_of(a, a.integers("shape"));
  f.name = operation_of(f);
  return {value_of(f, in)};
}

const Operation formula_row("formula", Operation::Algorithm(values_of));
const Operation scatter_row("scatter_sum", Operation::Algorithm(values_of));
const Operation scan_row("scan", Operation::Algorithm(values_of));

}  // namespace

bool is_formula_node(const Graph::Node &node) {
  return node.operation == formula_row.name || node.operation == scatter_row.name || node.operation == scan_row.name;
}

formula::ExactFormula formula_of(const Graph &graph, const Graph::Node &node) {
  return formula_of(node.attributes, graph.value(node.outputs.at(0)).shape);
}

Graph::Node node_of(const formula::ExactFormula &f, std::vector<std::string> inputs, const std::string &output) {
  Attributes a = {{"element", f.element}};
  if (f.is_scatter()) a.set("space", f.space);
  if (f.is_scan()) a.set("along", int64_t{f.along});
  if (f.is_scan()) a.set("before", f.before);
  for (size_t d = 0; d < f.targets.size(); ++d)
    if (f.targets[d].defined()) a.set(target(d), f.targets[d]);
  return {operation_of(f), std::move(a), std::move(inputs), {output}};
}

namespace {

using NameOutput = std::function<std::string(int output)>;

// What a graph has of recurrences: each turn by itself.
class Unrolled {
 public:
  Unrolled(Graph &graph, const NameOutput &name) : graph_(graph), name_(name) {}

  // A state after all turns, one after another.
  void add(const formula::ExactFormula &f, const std::vector<std::string> &operands, const std::string &called) {
    std::vector<std::string> parts;
    for (const std::vector<std::string> &states : turns_of(*f.recurrence, operands)) {
      const std::string part = name_(-1), &state = states.at(static_cast<size_t>(f.state));
      Shape shape = f.shape;
      shape[0] = 1;
      graph_.values[part] = {shape, f.type, {}};
      graph_.nodes.push_back({"reshape", {{"shape", shape}}, {state}, {part}});
      parts.push_back(part);
    }
    graph_.nodes.push_back({"concat", {{"axis", int64_t{0}}}, parts, {called}});
  }

 private:
  // The names of states after each turn.
  using Turns = std::vector<std::vector<std::string>>;
  const Turns &turns_of(const formula::ExactRecurrence &r, std::vector<std::string> operands) {
    Turns &all = known_[&r];
    if (!all.empty()) return all;
    if (r.turns == 0) fail("a recurrence of no turns");
    all.resize(static_cast<size_t>(r.turns));
    operands.emplace_back();  // the number, which is known
    // Parts are values of their own, so that the formulas of all turns are the same, and their kernels too.
    formula::ExactRecurrence of_parts = r;
    of_parts.by_turn.assign(r.by_turn.size(), false);
    const std::vector<std::string> whole = operands;
    for (int64_t taken = 0; taken < r.turns; ++taken) {
      const int64_t t = r.backwards ? r.turns - 1 - taken : taken;
      for (size_t i = 0; i < r.by_turn.size(); ++i)
        if (r.by_turn[i]) operands[r.states() + i] = part_of(whole[r.states() + i], t);
      std::vector<std::string> &states = all[static_cast<size_t>(t)];
      states = add_formulas(graph_, at_turn(of_parts, t), operands, [&](int) { return name_(-1); });
      std::copy(states.begin(), states.end(), operands.begin());
    }
    return all;
  }

  // What there is of a value at a turn.
  std::string part_of(const std::string &whole, int64_t turn) {
    const Graph::Value v = graph_.value(whole);
    Shape shape = v.shape;
    shape[0] = 1;
    const std::string slice = name_(-1);
    graph_.values[slice] = {shape, v.type, {}};
    graph_.nodes.push_back({"slice", {{"axis", int64_t{0}}, {"begin", turn}, {"count", int64_t{1}}}, {whole}, {slice}});
    shape.erase(shape.begin());
    const std::string part = name_(-1);
    graph_.values[part] = {shape, v.type, {}};
    graph_.nodes.push_back({"reshape", {{"shape", shape}}, {slice}, {part}});
    return part;
  }

  Graph &graph_;
  const NameOutput &name_;
  std::map<const formula::ExactRecurrence *, Turns> known_;
};

}  // namespace

std::vector<std::string> add_formulas(Graph &graph, const formula::ExactFormulas &all, std::vector<std::string> values,
                                      const std::function<std::string(int output)> &name) {
  Unrolled recurrences(graph, name);
  for (const formula::ExactFormula &f : all.stages) {
    const auto output = std::find(all.outputs.begin(), all.outputs.end(), static_cast<int>(values.size()));
    const std::string called = name(output == all.outputs.end() ? -1 : static_cast<int>(output - all.outputs.begin()));
    std::vector<std::string> operands;
    for (int o : f.operands) operands.push_back(values.at(static_cast<size_t>(o)));
    values.push_back(called);
    graph.values[called] = {f.shape, f.type, {}};
    if (f.is_recurrent())
      recurrences.add(f, operands, called);
    else
      graph.nodes.push_back(node_of(f, std::move(operands), called));
  }
  std::vector<std::string> outputs;
  for (int o : all.outputs) outputs.push_back(values.at(static_cast<size_t>(o)));
  return outputs;
}

}  // namespace saltern
