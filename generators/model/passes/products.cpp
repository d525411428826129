#include "dsl/product.h"

#include <algorithm>

#include "generators/model/passes/passes.h"
#include "runtime/graph/formula_node.h"

namespace saltern::generators {

namespace {

using formula::Expression;

// The indices of a load that run over something.
std::vector<Expression> running(const Expression &load) {
  std::vector<Expression> all;
  std::copy_if(load->arguments.begin(), load->arguments.end(), std::back_inserter(all),
               [](const Expression &i) { return i->kind != Expression::Kind::constant; });
  return all;
}

// Rows times constant weights, (o, i), both as they lie in memory.
std::optional<formula::Product> dense_layer(const Graph &graph, const Graph::Node &n) {
  if (n.operation != "formula" || graph.value(n.outputs[0]).type != Type::f32) return std::nullopt;
  std::optional<formula::Product> p = formula::product_of(formula_of(graph, n));
  if (!p || !p->batch.empty() || p->columns.size() != 1 || p->steps.size() != 1) return std::nullopt;
  const Graph::Value &x = graph.value(n.inputs[static_cast<size_t>(p->left->number)]),
                     &w = graph.value(n.inputs[static_cast<size_t>(p->right->number)]);
  std::vector<Expression> rows = p->rows;
  rows.push_back(p->steps[0]);
  const auto are = [](const std::vector<Expression> &a, const std::vector<Expression> &b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Expression &i, const Expression &j) { return is_same(i, j); });
  };
  // All that there is is read.
  const int64_t k = p->steps[0]->integer,
                o = graph.value(n.outputs[0]).shape[static_cast<size_t>(p->columns[0]->number)];
  const bool whole = elements(x.shape) * o == elements(graph.value(n.outputs[0]).shape) * k && w.shape == Shape{o, k};
  const bool fits = x.type == Type::f32 && w.type == Type::f32 && w.constant.defined() && whole &&
                    are(running(p->left), rows) && are(running(p->right), {p->columns[0], p->steps[0]});
  return fits ? p : std::nullopt;
}

}  // namespace

Graph with_dense_products(Graph graph) {
  std::vector<Graph::Node> all;
  for (Graph::Node &n : graph.nodes) {
    const std::optional<formula::Product> p = dense_layer(graph, n);
    if (!p) {
      all.push_back(std::move(n));
      continue;
    }
    const std::string x = n.inputs[static_cast<size_t>(p->left->number)],
                      w = n.inputs[static_cast<size_t>(p->right->number)], &y = n.outputs[0];
    const Shape weights = graph.value(w).shape, shape = graph.value(y).shape;
    const int64_t count = elements(shape) / weights[0];
    const std::string rows = graph.fresh_name(x + ".rows");
    graph.values[rows] = {{count, weights[1]}, Type::f32, {}};
    const std::string made = graph.fresh_name(y + ".rows");
    graph.values[made] = {{count, weights[0]}, Type::f32, {}};
    all.push_back({"reshape", {{"shape", Shape{count, weights[1]}}}, {x}, {rows}});
    all.push_back({"dense", {}, {rows, w}, {made}});
    all.push_back({"reshape", {{"shape", shape}}, {made}, {y}});
  }
  graph.nodes = std::move(all);
  return without_identities(std::move(graph));
}

}  // namespace saltern::generators
