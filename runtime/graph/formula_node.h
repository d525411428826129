#pragma once
// Nodes that say what they compute, and need no operation that somebody knows:
//
//   formula      element: one element of the result, of axes and of the node's inputs (dsl/expression.h)
//   scatter_sum  element, space, target0, target1, ...: element(t) for all t in the space is added at (target0(t), ...);
//                a dimension without a target is at its own t. The space begins with the result's dimensions, each 1
//                where it has a target. Places outside of the result are dropped.
//   scan         element, along, before: element is of what is carried, too, which is the element before it along this
//                dimension; before the first one it is `before`
//
// Their gradients are derived. All have a row in the table of operations, which asks for one more attribute, the shape
// of the result: in a graph that is the value's.

#include "dsl/exact_formulas.h"
#include "runtime/autograd/operation.h"
#include "runtime/graph/graph.h"

namespace saltern {

bool is_formula_node(const Graph::Node &node);

// What such a node computes; operand i is its input i.
formula::ExactFormula formula_of(const Graph &graph, const Graph::Node &node);
// The node that computes it from these inputs, with an output of this name.
Graph::Node node_of(const formula::ExactFormula &f, std::vector<std::string> inputs, const std::string &output);

// Adds nodes that compute formulas of these values of the graph, each turn of a recurrence by itself; `name` says what a value is to be called that is output
// number i of the formulas, or -1. Gives the names of the outputs.
std::vector<std::string> add_formulas(Graph &graph, const formula::ExactFormulas &all, std::vector<std::string> values,
                                      const std::function<std::string(int output)> &name);

}  // namespace saltern
