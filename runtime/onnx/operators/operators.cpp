#include "runtime/onnx/operators/operators.h"

#include <map>

#include "runtime/onnx/operators/registry.h"

namespace saltern {

namespace {

using Key = std::pair<std::string, std::string>;

std::map<Key, Operator> &table() {
  static std::map<Key, Operator> all = [] {
    std::map<Key, Operator> rows;
    for (const OperatorList *list : {&elementwise_operators(),   &constant_operators(),
                                     &shape_operators(),         &joining_operators(),
                                     &gathering_operators(),     &scattering_operators(),
                                     &casting_operators(),       &quantizing_operators(),
                                     &reducing_operators(),      &ranking_operators(),
                                     &selecting_operators(),     &sequence_operators(),
                                     &text_operators(),          &ngram_operators(),
                                     &image_operators(),         &matmul_operators(),
                                     &convolution_operators(),   &quantized_product_operators(),
                                     &pool_operators(),          &softmax_operators(),
                                     &normalization_operators(), &resize_operators(),
                                     &sampling_operators(),      &region_operators(),
                                     &einsum_operators(),        &determinant_operators(),
                                     &attention_operators(),     &stateful_attention_operators(),
                                     &recurrent_operators(),     &loss_operators(),
                                     &random_operators(),        &optimizer_operators(),
                                     &signal_operators(),        &ml_linear_operators(),
                                     &ml_svm_operators(),        &ml_tree_operators(),
                                     &ml_feature_operators(),    &ml_label_operators(),
                                     &flex_attention_operators()})
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

void add_operator(const Operator &row) { table().emplace(Key{row.domain, row.name}, row); }

std::vector<const Operator *> all_operators() {
  std::vector<const Operator *> all;
  for (const auto &[key, o] : table()) all.push_back(&o);
  return all;
}

const Tensor &HostCall::tensor(size_t i) const {
  if (!has(i)) fail("input ", i, " is missing");
  return inputs[i].tensor();
}

const std::vector<HostValue> &HostCall::sequence(size_t i) const {
  if (!has(i)) fail("input ", i, " is missing");
  return inputs[i].sequence();
}

}  // namespace saltern
