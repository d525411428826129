#include "runtime/graph/flops.h"

#include <array>
#include <string_view>

namespace saltern {

namespace {

// Products that make one element of the output.
double weights_of_one_output(const Shape &, const Shape &w) {
  return w.empty() || w[0] == 0 ? 0 : static_cast<double>(elements(w)) / static_cast<double>(w[0]);
}
double columns(const Shape &a, const Shape &) { return a.empty() ? 0 : static_cast<double>(a.back()); }

struct Row {
  std::string_view operation;
  double (*products)(const Shape &first, const Shape &second);
};

constexpr std::array<Row, 3> rows = {{
    {"dense", weights_of_one_output},
    {"conv2d", weights_of_one_output},
    {"matmul", columns},
}};

}  // namespace

double flops(const Graph &graph, const Graph::Node &n) {
  for (const Row &r : rows)
    if (n.operation == r.operation && n.inputs.size() >= 2 && !n.outputs.empty())
      return 2 * static_cast<double>(elements(graph.value(n.outputs[0]).shape)) *
             r.products(graph.value(n.inputs[0]).shape, graph.value(n.inputs[1]).shape);
  return 0;
}

double flops(const Graph &graph) {
  double sum = 0;
  for (const Graph::Node &n : graph.nodes) sum += flops(graph, n);
  return sum;
}

}  // namespace saltern
