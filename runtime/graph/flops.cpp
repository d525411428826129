#include "runtime/graph/flops.h"

#include <array>
#include <string_view>

#include "runtime/graph/formula_node.h"

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

constexpr std::array<Row, 5> rows = {{
    {"dense", weights_of_one_output},
    {"conv2d", weights_of_one_output},
    {"integer_conv2d", weights_of_one_output},
    {"integer_dense", weights_of_one_output},
    {"matmul", columns},
}};

// Two for each step of a sum of products, for each element.
double flops_of(const formula::ExactFormula &f) {
  using formula::Expression;
  double steps = 0;
  formula::for_each_node(f.element, [&](const Expression::Node &n) {
    if (n.kind != Expression::Kind::reduce || n.function != formula::Function::sum) return;
    const Expression &each = n.arguments[0];
    if (each->kind != Expression::Kind::call || each->function != formula::Function::multiply) return;
    double count = 2;
    for (const formula::ReductionStep &s : n.steps) count *= static_cast<double>(std::max<int64_t>(s.extent, 1));
    steps += count;
  });
  return steps * static_cast<double>(elements(f.is_scatter() ? f.space : f.shape));
}

}  // namespace

double flops(const Graph &graph, const Graph::Node &n) {
  if (is_formula_node(n)) return flops_of(formula_of(graph, n));
  for (const Row &r : rows)
    if (n.operation == r.operation && n.inputs.size() >= 2 && !n.outputs.empty())
      return 2 * static_cast<double>(elements(graph.value(n.outputs[0]).shape)) *
             r.products(graph.value(n.inputs[0]).shape, graph.value(n.inputs[1]).shape);
  // Of a convolution's gradients: as much as itself.
  const bool of_x = n.operation == "conv2d_gradient_x", of_w = n.operation == "conv2d_gradient_w";
  if (!of_x && !of_w) return 0;
  const Shape &w = graph.value(of_x ? n.inputs[0] : n.outputs[0]).shape;
  return 2 * static_cast<double>(elements(graph.value(n.inputs[1]).shape)) * weights_of_one_output({}, w);
}

double flops(const Graph &graph) {
  double sum = 0;
  for (const Graph::Node &n : graph.nodes) sum += flops(graph, n);
  return sum;
}

}  // namespace saltern
