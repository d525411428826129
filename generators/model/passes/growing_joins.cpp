#include <algorithm>

#include "generators/model/passes/passes.h"
#include "runtime/operators/axis.h"

namespace saltern::generators {

namespace {

struct Join {
  std::vector<std::string> parts;  // as the graph had them
  int axis;
  std::string whole;
};

bool begins_with(const Join &longer, const Join &shorter) {
  return shorter.parts.size() > 1 && shorter.parts.size() < longer.parts.size() && shorter.axis == longer.axis &&
         std::equal(shorter.parts.begin(), shorter.parts.end(), longer.parts.begin());
}

}  // namespace

Graph with_growing_joins(Graph graph) {
  std::map<std::string, std::vector<Join>> known;  // by their first part
  for (Graph::Node &n : graph.nodes) {
    if (n.operation != "concat") continue;
    const auto rank = static_cast<int64_t>(graph.value(n.outputs[0]).shape.size());
    const Join join = {n.inputs, axis_within(n.attributes.integer("axis"), rank), n.outputs[0]};
    std::vector<Join> &alike = known[join.parts.at(0)];
    const Join *longest = nullptr;
    for (const Join &earlier : alike)
      if (begins_with(join, earlier) && (!longest || earlier.parts.size() > longest->parts.size())) longest = &earlier;
    if (longest) {
      n.inputs.erase(n.inputs.begin(), n.inputs.begin() + static_cast<std::ptrdiff_t>(longest->parts.size()));
      n.inputs.insert(n.inputs.begin(), longest->whole);
    }
    alike.push_back(join);
  }
  return graph;
}

}  // namespace saltern::generators
