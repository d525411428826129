#pragma once
// Formulas computed where they are read, instead of by a kernel of their own: when that is worth it, and how.

#include "runtime/graph/graph_index.h"

namespace saltern::generators {

// How often a formula over `shape` loads an element of one of its operands in all.
double reads_of(const formula::Expression &element, const Shape &shape, int operand);

// What it takes to compute one element of a formula.
struct FormulaCost {
  int nodes = 0;
  bool reduces = false, dear = false;  // has a reduction; a function of many instructions
};
FormulaCost cost_of(const formula::Expression &element);

// Whether the formula `made`, of `operands` operands, and the one that reads it are few nodes and operands together.
bool is_small_together(const FormulaCost &made, size_t operands, const FormulaCost &reading, size_t other_operands);

// Whether such a formula may be computed again wherever it is read: it is no reduction.
bool fits_into(const FormulaCost &made, size_t operands, const FormulaCost &reading, size_t other_operands);

// Whether so many reads of a formula's elements cost less than a trip of the elements through memory.
bool is_worth_repeating(const FormulaCost &made, double reads, double elements);

// Whether a value has the type that its formula computes in: others are rounded when they are stored.
bool is_exact(Type type);

// Whether the node joins a kernel that ends with elementwise operations anyway: then its result costs nothing.
bool follows_a_kernel(const Graph &graph, const GraphIndex &index, const Graph::Node &node);

// `reading`, a formula of the operands `read`, with the formula that `maker` is in the place of its loads of what that
// makes. Operands are numbered by their places in `all`, to which new ones are added. Loads of one element become one
// copy of the formula, or where only they are read the formula itself: a chain of thousands is not copied again and
// again.
formula::Expression inlined(const formula::Expression &reading, const std::vector<std::string> &read,
                            const Graph::Node &maker, std::vector<std::string> &all);

}  // namespace saltern::generators
