#include <algorithm>

#include "runtime/onnx/optimize.h"
#include "runtime/onnx/passes/sweep.h"

namespace saltern {

Model without_dead_code(Model m, const Inferred &) {
  Graph &g = m.graph;
  // What graphs inside of dead nodes read goes with them one pass later.
  std::set<std::string> needed = fixed_names(g);
  std::vector<Graph::Node> kept;
  for (auto n = g.nodes.rbegin(); n != g.nodes.rend(); ++n) {
    if (std::none_of(n->outputs.begin(), n->outputs.end(), [&](const auto &o) { return needed.count(o) > 0; }))
      continue;
    needed.insert(n->inputs.begin(), n->inputs.end());
    kept.push_back(std::move(*n));
  }
  g.nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
  needed.insert(g.inputs.begin(), g.inputs.end());
  for (const Graph::Node &n : g.nodes) needed.insert(n.outputs.begin(), n.outputs.end());
  for (auto v = g.values.begin(); v != g.values.end();) v = needed.count(v->first) ? std::next(v) : g.values.erase(v);
  return m;
}

}  // namespace saltern
