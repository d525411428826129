#include "generators/model/winograd.h"

#include "generators/model/passes/passes.h"

namespace saltern::generators {

Graph with_winograd(Graph graph) {
  for (Graph::Node &node : graph.nodes) {
    const std::optional<WinogradNode> form = winograd_form(graph, node);
    const int tile = form ? fastest_tile(form->geometry, form->has_constants) : 0;
    if (tile > 0) node.attributes.set("winograd_tile", int64_t{tile});
  }
  return graph;
}

}  // namespace saltern::generators
