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
  // Throws where the input is absent or holds something else.
  const Tensor &tensor(size_t i) const;
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

// The domain of operators that train (runtime/onnx/trainable.h), beside ONNX's own of the same names: they are Saltern's
// operations whatever they read, so that these are found again where weights are no constants.
constexpr char training_domain[] = "saltern.training";
inline bool trains(const Lowering &n) { return n.node().domain == training_domain; }

// Adds a row while a program runs; not while models do. Its domain and name are new.
void add_operator(const Operator &row);
// Null where there is none.
const Operator *find_operator(const std::string &domain, const std::string &name);
// Whether each element comes from those at the same place of the inputs, with broadcasting.
bool is_elementwise(const Graph::Node &node);
// The one that is a function of the language; null where there is none.
const char *operator_of(formula::Function f);
const char *operator_of(const std::string &function);

// Computes a node's outputs at once: lowered, or on the host; or by its lowering for certain, from tensors of numbers.
std::vector<HostValue> compute_operator(const Operator &op, const Graph::Node &node, int64_t opset,
                                        const std::vector<HostValue> &inputs);
std::vector<HostValue> compute_lowered(const Operator &op, const Graph::Node &node, int64_t opset,
                                       const std::vector<HostValue> &inputs);

// Texts by their numbers (text_numbers.h): the node runs on those, and the results' numbers become texts again. For nodes
// that only move elements, and whose results all have the type of the texts among their inputs.
std::vector<HostValue> move_texts(const HostCall &call);
// The same for nodes that look at the shapes of texts only, or at which are equal: results are as they are.
std::vector<HostValue> look_at_texts(const HostCall &call);

// One list for each file of operators; operators.cpp puts them together.
using OperatorList = std::vector<Operator>;
extern const OperatorList elementwise_operators, constant_operators, shape_operators, joining_operators,
    gathering_operators, scattering_operators, casting_operators, quantizing_operators, reducing_operators,
    selecting_operators, sequence_operators, text_operators, ngram_operators, image_operators, matmul_operators,
    convolution_operators, quantized_product_operators, pool_operators, probability_operators, normalization_operators,
    resize_operators, sampling_operators, region_operators, einsum_operators, attention_operators,
    stateful_attention_operators, recurrent_operators, random_operators, optimizer_operators, signal_operators,
    ml_linear_operators, ml_svm_operators, ml_tree_operators, ml_feature_operators, ml_label_operators,
    microsoft_attention_operators, microsoft_norm_operators, microsoft_product_operators, microsoft_quantized_operators,
    microsoft_renamed_operators;

}  // namespace saltern
