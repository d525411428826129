#include "runtime/onnx/operators/operators.h"

#include <algorithm>
#include <map>

#include "runtime/graph/executor.h"

namespace saltern {

namespace {

using Key = std::pair<std::string, std::string>;

std::map<Key, Operator> &table() {
  static std::map<Key, Operator> all = [] {
    std::map<Key, Operator> rows;
    for (const OperatorList *list : {&elementwise_operators,
                                     &constant_operators,
                                     &shape_operators,
                                     &joining_operators,
                                     &gathering_operators,
                                     &scattering_operators,
                                     &casting_operators,
                                     &quantizing_operators,
                                     &reducing_operators,
                                     &selecting_operators,
                                     &sequence_operators,
                                     &text_operators,
                                     &ngram_operators,
                                     &image_operators,
                                     &matmul_operators,
                                     &convolution_operators,
                                     &quantized_product_operators,
                                     &pool_operators,
                                     &probability_operators,
                                     &normalization_operators,
                                     &resize_operators,
                                     &sampling_operators,
                                     &region_operators,
                                     &einsum_operators,
                                     &attention_operators,
                                     &stateful_attention_operators,
                                     &recurrent_operators,
                                     &random_operators,
                                     &optimizer_operators,
                                     &signal_operators,
                                     &ml_linear_operators,
                                     &ml_svm_operators,
                                     &ml_tree_operators,
                                     &ml_feature_operators,
                                     &ml_label_operators,
                                     &microsoft_attention_operators,
                                     &microsoft_norm_operators,
                                     &microsoft_product_operators,
                                     &microsoft_quantized_operators,
                                     &microsoft_renamed_operators})
      for (const Operator &o : *list) rows.emplace(Key{o.domain, o.name}, o);
    return rows;
  }();
  return all;
}

}  // namespace

const Operator *find_operator(const std::string &domain, const std::string &name) {
  const auto it = table().find({domain == "ai.onnx" ? "" : domain, name});
  return it == table().end() ? nullptr : &it->second;
}

bool is_elementwise(const Graph::Node &node) {
  return node.domain.empty() && std::any_of(elementwise_operators.begin(), elementwise_operators.end(),
                                            [&](const Operator &o) { return o.name == node.operation; });
}

void add_operator(const Operator &row) { table().emplace(Key{row.domain, row.name}, row); }

const Tensor &HostCall::tensor(size_t i) const {
  if (!has(i)) fail("input ", i, " is missing");
  return inputs[i].tensor();
}

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
