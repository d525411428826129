#include "generators/model/code_size.h"

namespace saltern::generators {

int code_size(const formula::Expression &element) {
  int nodes = 0;
  formula::for_each_node(element, [&](const formula::Expression::Node &) { ++nodes; });
  return nodes;
}

int code_size(const Graph::Node &node) {
  constexpr int of_an_operation = 10;
  return node.operation == "formula" ? code_size(node.attributes.expression("element")) : of_an_operation;
}

}  // namespace saltern::generators
