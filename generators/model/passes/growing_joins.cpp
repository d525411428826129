#include <algorithm>
#include <unordered_map>

#include "generators/model/passes/passes.h"
#include "runtime/onnx/operators/axis.h"

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
  std::vector<Join> joins;
  std::unordered_map<size_t, std::vector<size_t>> known;  // by a hash of their axis and parts
  for (Graph::Node &n : graph.nodes) {
    if (n.operation != "concat") continue;
    const auto rank = static_cast<int64_t>(graph.value(n.outputs[0]).shape.size());
    const Join join = {n.inputs, axis_within(n.attributes.integer("axis"), rank), n.outputs[0]};
    const Join *longest = nullptr;
    auto hash = static_cast<size_t>(join.axis);
    for (const std::string &part : join.parts) {
      hash = hash * 31 + std::hash<std::string>()(part);
      const auto alike = known.find(hash);
      if (alike == known.end()) continue;
      const auto earlier = std::find_if(alike->second.begin(), alike->second.end(),
                                        [&](size_t j) { return begins_with(join, joins[j]); });
      if (earlier != alike->second.end()) longest = &joins[*earlier];
    }
    if (longest) {
      n.inputs.erase(n.inputs.begin(), n.inputs.begin() + static_cast<std::ptrdiff_t>(longest->parts.size()));
      n.inputs.insert(n.inputs.begin(), longest->whole);
    }
    known[hash].push_back(joins.size());
    joins.push_back(join);
  }
  return graph;
}

}  // namespace saltern::generators
