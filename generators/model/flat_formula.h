#pragma once
// A formula whose operands and result are seen as they lie in memory, with as few dimensions as tell its indices apart:
//
//   y(a0, a1, 0, 0) = sum{s0 < 56, s1 < 56}(x0[a0, a1, s0, s1])    becomes    y(a0) = sum{s0 < 3136}(x0[a0, s0])
//
// Axes, or steps of one reduction, that follow each other wherever they are read become one; extents of 1 go. So rows
// are as long as memory allows, and a schedule need not know of images and layouts.

#include <vector>

#include "dsl/expression.h"
#include "runtime/graph/graph.h"

namespace saltern::generators {

// Row-major: dimensions are in the order of memory, the outermost first.
struct FlatFormula {
  formula::Expression element;
  Graph::Value result;
  std::vector<Graph::Value> operands;
};

FlatFormula flattened(const formula::Expression &element, const Graph::Value &result,
                      const std::vector<Graph::Value> &operands);

}  // namespace saltern::generators
