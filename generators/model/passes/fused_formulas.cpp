#include <algorithm>
#include <set>

#include "generators/model/emit.h"
#include "generators/model/passes/passes.h"
#include "generators/model/views.h"

namespace saltern::generators {

namespace {

using formula::Expression;
using formula::Function;
using Kind = Expression::Kind;

constexpr int most_nodes = 400;  // of a fused formula: a kernel's code grows with it
constexpr size_t most_operands = 16;
constexpr double most_repeats = 4;  // computing a cheap element again costs less than a trip through memory

struct Cost {
  int nodes = 0;
  bool reduces = false, dear = false;
};

// Whether a function takes many instructions.
bool is_dear(const Expression::Node &n) {
  static const std::set<Function> quick = {
      Function::negate,     Function::absolute, Function::floor,   Function::ceiling,     Function::round,
      Function::truncate,   Function::invert,   Function::is_nan,  Function::is_infinite, Function::add,
      Function::subtract,   Function::multiply, Function::maximum, Function::minimum,     Function::less,
      Function::less_equal, Function::equal,    Function::both,    Function::either,      Function::differ};
  return n.kind == Kind::call && !quick.count(n.function);
}

Cost cost_of(const Expression &e) {
  Cost c;
  formula::for_each_node(e, [&](const Expression::Node &n) {
    ++c.nodes;
    c.reduces |= n.kind == Kind::reduce;
    c.dear |= is_dear(n);
  });
  return c;
}

// How often a formula over `shape` loads an element of one of its operands in all.
double reads_of(const Expression &element, const Shape &shape, int operand) {
  double reads = 0;
  const std::function<void(const Expression &, double)> walk = [&](const Expression &e, double times) {
    if (e->kind == Kind::reduce)
      for (const formula::Step &s : e->steps) times *= static_cast<double>(s.extent);
    if (e->kind == Kind::load && e->number == operand) reads += times;
    for (const Expression &a : e->arguments) walk(a, times);
  };
  walk(element, static_cast<double>(elements(shape)));
  return reads;
}

// Whether the node joins a kernel that ends with elementwise operations anyway: then its result costs nothing.
bool follows_a_kernel(const Graph &graph, const Graph::Node &node) {
  if (!is_elementwise(graph, node)) return false;
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](const std::string &i) {
    const Graph::Node *maker = graph.producer(i);
    return maker && maker->operation != "formula" && graph.uses(i) == 1 && takes_epilogue(graph, *maker) &&
           graph.value(i).shape == graph.value(node.outputs[0]).shape;
  });
}

bool is_exact(Type type) { return type == Type::f32 || type == Type::f64 || !is_real(type); }

// Whether `reader` should compute what `maker` gives it by itself.
bool should_fuse(const Graph &graph, const Graph::Node &maker, const Expression &made, const Graph::Node &reader,
                 const Expression &reading) {
  const std::string &value = maker.outputs[0];
  const Graph::Value &v = graph.value(value);
  if (graph.uses(value) != 1 || !is_exact(v.type)) return false;  // others are rounded when they are stored
  if (is_view(graph, maker)) return false;                        // costs nothing, and keeps the reader's code general
  const Cost cost = cost_of(made);
  if (cost.reduces || cost.nodes + cost_of(reading).nodes > most_nodes ||
      maker.inputs.size() + reader.inputs.size() > most_operands)
    return false;
  const Shape &result = graph.value(reader.outputs[0]).shape;
  const bool same_element = is_elementwise(graph, reader) && result == v.shape;
  if (!same_element && follows_a_kernel(graph, maker)) return false;
  double reads = 0;
  for (size_t i = 0; i < reader.inputs.size(); ++i)
    if (reader.inputs[i] == value) reads += reads_of(reading, result, static_cast<int>(i));
  return same_element || reads <= (cost.dear ? 1 : most_repeats) * static_cast<double>(elements(v.shape));
}

// `reader` with the formula of `maker` in the place of its loads.
Graph::Node fused(const Graph::Node &maker, const Expression &made, const Graph::Node &reader,
                  const Expression &reading) {
  Graph::Node n = reader;
  n.inputs.clear();
  const auto number = [&](const std::string &operand) {
    auto it = std::find(n.inputs.begin(), n.inputs.end(), operand);
    if (it == n.inputs.end()) it = n.inputs.insert(n.inputs.end(), operand);
    return static_cast<int>(it - n.inputs.begin());
  };
  const Expression element = formula::replaced(reading, [&](const Expression &leaf) -> Expression {
    if (leaf->kind != Kind::load) return {};
    const std::string &operand = reader.inputs[static_cast<size_t>(leaf->number)];
    if (operand != maker.outputs[0]) return formula::load(number(operand), leaf.type(), leaf->arguments);
    return formula::replaced(made, [&](const Expression &inner) -> Expression {
      if (inner->kind == Kind::axis) return leaf->arguments.at(static_cast<size_t>(inner->number));
      return formula::load(number(maker.inputs[static_cast<size_t>(inner->number)]), inner.type(), inner->arguments);
    });
  });
  n.attributes = {{"element", element}};
  return n;
}

}  // namespace

Graph with_fused_formulas(Graph graph) {
  std::map<std::string, size_t> makers;
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    for (const std::string &o : graph.nodes[n].outputs) makers[o] = n;

  // Fuses one of the reader's inputs, if there is one to fuse.
  const auto fuse_one = [&](Graph::Node &reader) {
    if (reader.operation != "formula") return false;
    const Expression reading = reader.attributes.expression("element");
    for (const std::string &input : reader.inputs) {
      const auto it = makers.find(input);
      if (it == makers.end()) continue;
      Graph::Node &maker = graph.nodes[it->second];
      if (maker.operation != "formula") continue;
      const Expression made = maker.attributes.expression("element");
      if (!should_fuse(graph, maker, made, reader, reading)) continue;
      reader = fused(maker, made, reader, reading);
      graph.values.erase(maker.outputs[0]);
      maker = {};  // left out below
      return true;
    }
    return false;
  };
  for (Graph::Node &reader : graph.nodes)
    while (fuse_one(reader)) {
    }
  graph.nodes.erase(
      std::remove_if(graph.nodes.begin(), graph.nodes.end(), [](const Graph::Node &n) { return n.outputs.empty(); }),
      graph.nodes.end());
  graph.remove_unused();
  return graph;
}

}  // namespace saltern::generators
