#include "runtime/graph/executor.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

bool all_tensors_of_numbers(const std::vector<HostValue> &values) {
  for (const HostValue &v : values)
    if (v.is_sequence() || (v.is_tensor() && v.tensor().type() == Type::text)) return false;
  return true;
}

}  // namespace

std::vector<HostValue> compute_lowered(const Operator &op, const Graph::Node &node, int64_t opset,
                                       const std::vector<HostValue> &inputs) {
  Graph graph;
  std::vector<Operand> operands(inputs.size());
  std::map<std::string, Tensor> given;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].is_empty()) continue;
    const Tensor &t = inputs[i].tensor();
    const std::string name = "input" + std::to_string(i);
    graph.add_input(name, t.shape(), t.type());
    given[name] = t;
    operands[i] = {name, t.type(), t.shape(), t};
  }
  Lowering lowering(node, opset, std::move(operands), graph);
  op.lower(lowering);
  for (const Operand &o : lowering.given())
    if (o.tensor().present()) graph.outputs.push_back(o.name);
  const std::map<std::string, Tensor> made = run(graph, given);
  std::vector<HostValue> results;
  for (const Operand &o : lowering.given()) results.push_back(o.present() ? HostValue(made.at(o.name)) : HostValue());
  return results;
}

std::vector<HostValue> compute_operator(const Operator &op, const Graph::Node &node, int64_t opset,
                                        const std::vector<HostValue> &inputs) {
  const bool host = op.compute && (op.host_first || !all_tensors_of_numbers(inputs));
  if (op.lower && !host) return compute_lowered(op, node, opset, inputs);
  return op.compute({node, opset, inputs});
}

}  // namespace saltern
