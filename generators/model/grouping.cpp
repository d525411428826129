#include "generators/model/grouping.h"

#include <algorithm>

#include "generators/model/epilogue.h"

namespace saltern::generators {

namespace {

// Whether `node` may be computed with the group that makes one of its operands: it is the only reader, and the shape
// does not change.
bool joins(const Graph &graph, const Group &group, const Graph::Node &node) {
  const std::string &made = group.output();
  if (!is_elementwise(graph, node) || !takes_epilogue(graph, group.anchor())) return false;
  if (std::count(node.inputs.begin(), node.inputs.end(), made) != graph.uses(made)) return false;
  const Graph::Value &before = graph.value(made), &after = graph.value(node.outputs[0]);
  if (after.shape != before.shape || after.layout != before.layout) return false;
  // A chain of elementwise operations sees its result as the graph does: its operands can broadcast in any way.
  if (is_elementwise(graph, group.anchor())) return true;
  return after.type == Type::f32 && std::all_of(node.inputs.begin(), node.inputs.end(),
                                                [&](const std::string &i) { return meets(graph.value(i), after); });
}

}  // namespace

std::vector<Group> group_nodes(const Graph &graph) {
  std::vector<Group> groups;
  for (const Graph::Node &node : graph.nodes) {
    auto host = groups.end();
    for (auto g = groups.begin(); g != groups.end(); ++g)
      if (std::count(node.inputs.begin(), node.inputs.end(), g->output()) > 0 && joins(graph, *g, node)) {
        // Of two contractions that are added, the later one takes the sum: the other is ready by then.
        host = g;
      }
    if (host == groups.end()) {
      groups.push_back({{node}});
      continue;
    }
    // What the node reads beside the group may have been made after it: the group moves to the node's place.
    Group joined = std::move(*host);
    groups.erase(host);
    joined.nodes.push_back(node);
    groups.push_back(std::move(joined));
  }
  return groups;
}

}  // namespace saltern::generators
