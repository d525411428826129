#include "generators/model/grouping.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "generators/model/code_size.h"
#include "generators/model/epilogue.h"
#include "generators/model/update_order.h"
#include "runtime/graph/graph_index.h"

namespace saltern::generators {

namespace {

// Whether an elementwise `node` may be computed with the group that makes one of its operands: it is the only reader,
// and the shape does not change.
bool joins(const Graph &graph, const GraphIndex &index, const Group &group, const Graph::Node &node) {
  const std::string &made = group.output();
  if (!takes_epilogue(graph, group.anchor())) return false;
  if (std::count(node.inputs.begin(), node.inputs.end(), made) != index.uses(made)) return false;
  const Graph::Value &before = graph.value(made), &after = graph.value(node.outputs[0]);
  if (after.shape != before.shape || after.layout != before.layout) return false;
  // A chain of elementwise operations sees its result as the graph does: its operands can broadcast in any way.
  if (is_elementwise(graph, group.anchor())) return true;
  const bool any_type = is_integer_product(group.anchor());
  return (any_type || after.type == Type::f32) &&
         std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](const std::string &i) { return meets(graph.value(i), after); });
}

}  // namespace

std::vector<Group> group_nodes(const Graph &graph) {
  const GraphIndex index(graph);
  std::vector<Group> groups;                     // those that moved are left empty
  std::vector<int> sizes;                        // of their code
  std::unordered_map<std::string, size_t> made;  // the group that ends with a value
  for (const Graph::Node &node : graph.nodes) {
    const int size = code_size(node);
    std::optional<size_t> host;
    for (const std::string &i : is_elementwise(graph, node) ? node.inputs : std::vector<std::string>()) {
      const auto g = made.find(i);
      // Of two contractions that are added, the later one takes the sum: the other is ready by then.
      if (g == made.end() || g->second < host.value_or(0) || sizes[g->second] + size > most_code) continue;
      if (joins(graph, index, groups[g->second], node)) host = g->second;
    }
    // What the node reads beside the group may have been made after it: the group moves to the node's place.
    Group group = host ? std::move(groups[*host]) : Group();
    if (host) {
      made.erase(group.output());
      groups[*host] = {};
    }
    group.nodes.push_back(node);
    made[group.output()] = groups.size();
    sizes.push_back(size + (host ? sizes[*host] : 0));
    groups.push_back(std::move(group));
  }
  groups.erase(std::remove_if(groups.begin(), groups.end(), [](const Group &g) { return g.nodes.empty(); }),
               groups.end());
  return with_late_updates(graph, std::move(groups));
}

}  // namespace saltern::generators
