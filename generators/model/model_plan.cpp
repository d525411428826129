#include "generators/model/model_plan.h"

#include <unordered_map>

#include "generators/model/chains.h"
#include "generators/model/passes/passes.h"
#include "generators/model/planned_model.h"
#include "runtime/autograd/operation.h"
#include "runtime/graph/flops.h"

namespace saltern::generators {

namespace {

// A formula is called by the operation that it is of: "relu", or "lstm:2", the second one of a net (runtime/graph/trace.h).
std::string said_name(const Graph::Node &n) {
  const std::string of = n.label.substr(0, n.label.find(':'));
  return find_operation(of) ? of : n.operation;
}

}  // namespace

ModelPlan plan_model(const Graph &graph, bool exact_convolutions) {
  const Graph prepared = prepared_to_compile(graph, exact_convolutions);
  const Plan plan = planned({prepared}).plan;
  ModelPlan told;
  told.weights_bytes = static_cast<int64_t>(plan.weights.size());
  told.workspace_bytes = plan.workspace_bytes;
  told.state_bytes = plan.state_bytes;
  told.kernels = plan.kernels;
  const std::vector<Chain> chains = chained(prepared, group_nodes(prepared));
  std::unordered_map<std::string, const Chain *> makers;
  for (const Chain &c : chains) makers.emplace(c.output(), &c);
  for (const DriverStep &s : plan.variants.at(0).steps) {
    const Graph::Value &made = prepared.value(s.origin);
    PlannedStep step = {s.origin, {}, made.shape, elements(made.shape) * facts(made.type).bytes()};
    for (const Group &g : makers.at(s.origin)->links)
      for (const Graph::Node &n : g.nodes) {
        step.operations.push_back(said_name(n));
        step.flops += flops(prepared, n);
      }
    told.steps.push_back(std::move(step));
  }
  return told;
}

}  // namespace saltern::generators
