#include "runtime/onnx/optimize.h"
#include "runtime/onnx/passes/sweep.h"
#include "runtime/onnx/walk.h"

namespace saltern {

namespace {

bool is_same_computation(const Graph::Node &a, const Graph::Node &b) {
  return a.operation == b.operation && a.domain == b.domain && a.inputs == b.inputs && a.attributes == b.attributes &&
         a.references == b.references && a.outputs.size() == b.outputs.size();
}

// A function of the model may hold anything.
bool may_be_random(const Model &m, const Graph::Node &n) {
  return is_random(n) || n.operation == "Dropout" || has_graph(n) || m.function(n.domain, n.operation);
}

}  // namespace

Model with_common_nodes_once(Model m) {
  Sweep sweep(m.graph);
  std::multimap<std::string, std::string> made;  // an output of each kept node, by its operation and first input
  sweep.run([&](Graph::Node n) {
    const bool outside =
        std::any_of(n.outputs.begin(), n.outputs.end(), [&](const auto &o) { return sweep.is_fixed(o); });
    const std::string key = n.operation + (n.inputs.empty() ? "" : " " + n.inputs[0]);
    const Graph::Node *twin = nullptr;
    if (!outside && !may_be_random(m, n)) {
      const auto [first, last] = made.equal_range(key);
      for (auto it = first; it != last && !twin; ++it)
        if (const Graph::Node *other = sweep.maker(it->second); is_same_computation(*other, n)) twin = other;
    }
    bool all_there = twin != nullptr;  // what one leaves out, the other may want
    for (size_t o = 0; all_there && o < n.outputs.size(); ++o)
      all_there = n.outputs[o].empty() || !twin->outputs[o].empty();
    if (!all_there) {
      for (const std::string &o : n.outputs)
        if (!o.empty()) {
          made.emplace(key, o);
          break;
        }
      return sweep.keep(std::move(n));
    }
    for (size_t o = 0; o < n.outputs.size(); ++o)
      if (!n.outputs[o].empty()) sweep.rename(n.outputs[o], twin->outputs[o]);
  });
  return m;
}

}  // namespace saltern
