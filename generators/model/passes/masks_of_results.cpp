#include <algorithm>
#include <unordered_map>

#include "generators/model/passes/passes.h"

namespace saltern::generators {

namespace {

using formula::Expression;
using formula::Function;
using Kind = Expression::Kind;

bool is_own_place(const Expression &load) {
  if (load->kind != Kind::load) return false;
  for (size_t d = 0; d < load->arguments.size(); ++d)
    if (load->arguments[d]->kind != Kind::axis || load->arguments[d]->number != static_cast<int>(d)) return false;
  return true;
}

// Whether the node is max(x, 0) of each element of its only input.
bool is_rectifier(const Graph &graph, const Graph::Node &node) {
  if (node.operation != "formula" || node.inputs.size() != 1) return false;
  const Graph::Value &x = graph.value(node.inputs[0]), &y = graph.value(node.outputs[0]);
  const Expression &e = node.attributes.expression("element");
  return x.shape == y.shape && x.type == y.type && e->kind == Kind::call && e->function == Function::maximum &&
         is_own_place(e->arguments[0]) && formula::is_number(e->arguments[1], 0);
}

// Whether nothing is asked of an operand's elements but if they are greater than zero.
bool asks_for_signs(const Expression &element, int operand) {
  const auto is_it = [&](const Expression &e) { return e->kind == Kind::load && e->number == operand; };
  bool only = !is_it(element);
  formula::for_each_node(element, [&](const Expression::Node &n) {
    for (size_t a = 0; a < n.arguments.size(); ++a) {
      const bool asks =
          n.kind == Kind::call && n.function == Function::less && a == 1 && formula::is_number(n.arguments[0], 0);
      only &= asks || !is_it(n.arguments[a]);
    }
  });
  return only;
}

}  // namespace

Graph with_masks_of_results(Graph graph) {
  std::unordered_map<std::string, std::vector<size_t>> readers;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    for (const std::string &name : graph.nodes[i].inputs) readers[name].push_back(i);
  for (size_t r = 0; r < graph.nodes.size(); ++r) {
    if (!is_rectifier(graph, graph.nodes[r])) continue;
    const std::string x = graph.nodes[r].inputs[0], y = graph.nodes[r].outputs[0];
    const std::vector<size_t> of_x = readers.at(x);
    const auto can_read_y = [&](size_t reader) {
      const Graph::Node &n = graph.nodes[reader];
      if (reader == r) return true;
      if (reader < r || n.operation != "formula") return false;
      for (size_t i = 0; i < n.inputs.size(); ++i)
        if (n.inputs[i] == x && !asks_for_signs(n.attributes.expression("element"), static_cast<int>(i))) return false;
      return true;
    };
    if (of_x.size() < 2 || graph.is_output(x) || !std::all_of(of_x.begin(), of_x.end(), can_read_y)) continue;
    for (size_t reader : of_x) {
      if (reader == r) continue;
      for (std::string &i : graph.nodes[reader].inputs)
        if (i == x) i = y;
      readers[y].push_back(reader);
    }
    readers[x] = {r};
  }
  return graph;
}

}  // namespace saltern::generators
