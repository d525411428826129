#pragma once
// Which nodes of a graph are computed by one kernel: an anchor and the elementwise operations that follow it, so that
// its results never leave the registers in between.

#include <string>
#include <vector>

#include "runtime/graph/graph.h"

namespace saltern::generators {

struct Group {
  std::vector<Graph::Node> nodes;  // the anchor first; each of the others reads the output of the one before

  const Graph::Node &anchor() const { return nodes.front(); }
  const std::string &output() const { return nodes.back().outputs.front(); }
};

// All nodes, each in one group, in an order in which the groups can be computed.
std::vector<Group> group_nodes(const Graph &graph);

}  // namespace saltern::generators
