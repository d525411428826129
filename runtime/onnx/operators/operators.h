#pragma once
// The table of operators that imported graphs may have: how each is lowered, or what computes it on the host.

#include <string>
#include <vector>

#include "runtime/onnx/operators/lowering.h"
#include "runtime/onnx/operators/value.h"

namespace saltern {

// What a host operator sees of the node that it computes.
struct HostCall {
  const Graph::Node &node;
  int64_t opset;
  std::vector<HostValue> inputs;  // absent ones are empty

  bool has(size_t i) const { return i < inputs.size() && !inputs[i].is_empty(); }
  // Throw where the input is absent or holds something else.
  const Tensor &tensor(size_t i) const;
  const std::vector<HostValue> &sequence(size_t i) const;
  const Attributes &attributes() const { return node.attributes; }
};

struct Operator {
  std::string name;
  std::function<void(Lowering &)> lower = nullptr;
  // For what has no static shape or is no arithmetic: sequences, texts, results whose size depends on values. An
  // operator that has both is lowered where all its inputs are tensors of numbers.
  std::vector<HostValue> (*compute)(const HostCall &) = nullptr;
  std::string domain = {};  // ONNX's own is empty
  // Computed on the host wherever that is possible: its formulas do more work than needed.
  bool host_first = false;
};

// Null where there is none.
const Operator *find_operator(const std::string &domain, const std::string &name);
// In the order of their names.
std::vector<const Operator *> all_operators();

// Computes a node's outputs at once: lowered, or on the host; or by its lowering for certain, from tensors of numbers.
std::vector<HostValue> compute_operator(const Operator &op, const Graph::Node &node, int64_t opset,
                                        const std::vector<HostValue> &inputs);
std::vector<HostValue> compute_lowered(const Operator &op, const Graph::Node &node, int64_t opset,
                                       const std::vector<HostValue> &inputs);

// One list for each file of operators; operators.cpp puts them together.
using OperatorList = std::vector<Operator>;
const OperatorList &elementwise_operators();
const OperatorList &constant_operators();
const OperatorList &shape_operators();
const OperatorList &joining_operators();
const OperatorList &gathering_operators();
const OperatorList &scattering_operators();
const OperatorList &casting_operators();
const OperatorList &quantizing_operators();
const OperatorList &reducing_operators();
const OperatorList &ranking_operators();
const OperatorList &selecting_operators();
const OperatorList &sequence_operators();
const OperatorList &text_operators();
const OperatorList &ngram_operators();
const OperatorList &image_operators();
const OperatorList &matmul_operators();
const OperatorList &convolution_operators();
const OperatorList &quantized_product_operators();
const OperatorList &pool_operators();
const OperatorList &softmax_operators();
const OperatorList &normalization_operators();
const OperatorList &resize_operators();
const OperatorList &sampling_operators();
const OperatorList &region_operators();
const OperatorList &einsum_operators();
const OperatorList &determinant_operators();
const OperatorList &attention_operators();
const OperatorList &stateful_attention_operators();
const OperatorList &recurrent_operators();
const OperatorList &loss_operators();
const OperatorList &random_operators();
const OperatorList &optimizer_operators();
const OperatorList &signal_operators();
const OperatorList &ml_linear_operators();
const OperatorList &ml_svm_operators();
const OperatorList &ml_tree_operators();
const OperatorList &ml_feature_operators();
const OperatorList &ml_label_operators();
const OperatorList &flex_attention_operators();

}  // namespace saltern
