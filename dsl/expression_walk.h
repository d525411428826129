#pragma once
// Walks over expressions. What several places use is one node, and a net that uses each of its values twice has 2^n
// uses after n layers: whoever follows each use never ends. These look at every node once.

#include "dsl/expression.h"

namespace saltern::formula {

// Calls `enter` once for each node, before its arguments, which are left out where it returns false.
void descend(const Expression &e, const std::function<bool(const Expression::Node &)> &enter);

}  // namespace saltern::formula
