#include "generators/model/winograd.h"

#include "generators/model/emitters.h"
#include "generators/model/passes/passes.h"

namespace saltern::generators {

Graph with_winograd(Graph graph) {
  for (Graph::Node &node : graph.nodes) {
    if (node.operation != "conv2d" || !has_packed_form(graph, node)) continue;
    const Geometry g = geometry_of(graph, node);
    const int tile = has_winograd_form(g) ? fastest_tile(g) : 0;
    if (tile > 0) node.attributes.set("winograd_tile", int64_t{tile});
  }
  return graph;
}

}  // namespace saltern::generators
