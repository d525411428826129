#pragma once
// Which groups of a graph are computed depth first, by one kernel: convolutions whose results only the next one reads,
// around a depthwise one. What lies between them is then a few rows in the cache, instead of whole images in memory.

#include "generators/model/geometry.h"
#include "generators/model/grouping.h"
#include "schedules/patterns/chain.h"

namespace saltern::generators {

struct Chain {
  std::vector<Group> links;  // one where a group is computed by itself

  const std::string &output() const { return links.back().output(); }
};

// All groups, each in one chain, in an order in which the chains can be computed.
std::vector<Chain> chained(const Graph &graph, std::vector<Group> groups);

// A group's convolution, of one group of channels or depthwise.
Geometry link_geometry(const Graph &graph, const Graph::Node &node);
// How a chain of these is cut into strips and bands.
schedules::ChainKnobs chain_knobs(const std::vector<Geometry> &links);

}  // namespace saltern::generators
