#pragma once
// What a net costs: floating-point operations of its dense layers, convolutions and matrix products, a multiplication
// and an addition each for every weight that meets an element; formulas that are sums of products are counted alike. All
// else is small beside these and not counted.

#include "runtime/graph/graph.h"

namespace saltern {

double flops(const Graph &graph);
// Of one of its nodes.
double flops(const Graph &graph, const Graph::Node &node);

}  // namespace saltern
