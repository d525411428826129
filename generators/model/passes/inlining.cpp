#include "generators/model/passes/inlining.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "generators/model/code_size.h"
#include "generators/model/emit.h"

namespace saltern::generators {

using formula::Expression;
using formula::Function;
using Kind = Expression::Kind;

namespace {

constexpr size_t most_operands = 16;
constexpr double most_repeats = 4;  // computing a cheap element again costs less than a trip through memory

// Whether a function takes many instructions.
bool is_dear(const Expression::Node &n) {
  static const std::set<Function> quick = {
      Function::negate,     Function::absolute, Function::floor,   Function::ceiling,     Function::round,
      Function::truncate,   Function::invert,   Function::is_nan,  Function::is_infinite, Function::add,
      Function::subtract,   Function::multiply, Function::maximum, Function::minimum,     Function::less,
      Function::less_equal, Function::equal,    Function::both,    Function::either,      Function::differ};
  return n.kind == Kind::call && !quick.count(n.function);
}

// Whether a load is of the element with the indices of the result's.
bool reads_its_own_place(const Expression::Node &load) {
  for (size_t d = 0; d < load.arguments.size(); ++d)
    if (load.arguments[d]->kind != Kind::axis || load.arguments[d]->number != static_cast<int>(d)) return false;
  return true;
}

}  // namespace

FormulaCost cost_of(const Expression &e) {
  FormulaCost c;
  formula::for_each_node(e, [&](const Expression::Node &n) {
    ++c.nodes;
    c.reduces |= n.kind == Kind::reduce;
    c.dear |= is_dear(n);
  });
  return c;
}

double reads_of(const Expression &element, const Shape &shape, int operand) {
  std::unordered_map<const Expression::Node *, double> of_bodies;  // of reductions, each time
  const std::function<double(const Expression &)> reads_in = [&](const Expression &body) {
    double reads = 0;
    formula::descend(body, [&](const Expression::Node &n) {
      if (n.kind == Kind::load && n.number == operand) reads += 1;
      if (n.kind != Kind::reduce) return true;
      const auto known = of_bodies.find(&n);
      double inside = known != of_bodies.end() ? known->second : of_bodies[&n] = reads_in(n.arguments[0]);
      for (const formula::ReductionStep &s : n.steps) inside *= static_cast<double>(s.extent);
      reads += inside;
      return false;
    });
    return reads;
  };
  return reads_in(element) * static_cast<double>(elements(shape));
}

bool is_small_together(const FormulaCost &made, size_t operands, const FormulaCost &reading, size_t other_operands) {
  return made.nodes + reading.nodes <= most_code && operands + other_operands <= most_operands;
}

bool fits_into(const FormulaCost &made, size_t operands, const FormulaCost &reading, size_t other_operands) {
  return !made.reduces && is_small_together(made, operands, reading, other_operands);
}

bool is_worth_repeating(const FormulaCost &made, double reads, double elements) {
  return reads <= (made.dear ? 1 : most_repeats) * elements;
}

bool is_exact(Type type) { return type == Type::f32 || type == Type::f64 || !is_real(type); }

bool follows_a_kernel(const Graph &graph, const GraphIndex &index, const Graph::Node &node) {
  if (!is_elementwise(graph, node)) return false;
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](const std::string &i) {
    const Graph::Node *maker = index.producer(i);
    return maker && maker->operation != "formula" && index.uses(i) == 1 && takes_epilogue(graph, *maker) &&
           graph.value(i).shape == graph.value(node.outputs[0]).shape;
  });
}

Expression inlined(const Expression &reading, const std::vector<std::string> &read, const Graph::Node &maker,
                   std::vector<std::string> &all) {
  const auto number = [&](const std::string &operand) {
    auto it = std::find(all.begin(), all.end(), operand);
    if (it == all.end()) it = all.insert(all.end(), operand);
    return static_cast<int>(it - all.begin());
  };
  const Expression made = maker.attributes.expression("element");
  bool same_numbers = true;
  for (size_t i = 0; i < maker.inputs.size(); ++i) same_numbers &= number(maker.inputs[i]) == static_cast<int>(i);
  return formula::replaced(reading, [&](const Expression &leaf) -> Expression {
    if (leaf->kind != Kind::load) return {};
    const std::string &operand = read[static_cast<size_t>(leaf->number)];
    if (operand != maker.outputs[0]) return formula::load(number(operand), leaf.type(), leaf->arguments);
    if (same_numbers && reads_its_own_place(*leaf.get())) return made;
    return formula::replaced(made, [&](const Expression &inner) -> Expression {
      if (inner->kind == Kind::axis) return leaf->arguments.at(static_cast<size_t>(inner->number));
      return formula::load(number(maker.inputs[static_cast<size_t>(inner->number)]), inner.type(), inner->arguments);
    });
  });
}

}  // namespace saltern::generators
