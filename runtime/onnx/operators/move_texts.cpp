#include "runtime/onnx/operators/operators.h"

#include <unordered_map>

namespace saltern {

namespace {

std::vector<HostValue> run_on_numbers(const HostCall &call, std::vector<std::string> &texts) {
  std::vector<HostValue> inputs;
  std::unordered_map<std::string, int64_t> known = {{"", 0}};
  for (const HostValue &v : call.inputs) {
    if (!v.is_tensor() || v.tensor().type() != Type::text) {
      inputs.push_back(v);
      continue;
    }
    const Tensor t = v.tensor().in_layout(Layout::row_major), numbers = Tensor::empty(t.shape(), Type::i64);
    for (int64_t i = 0; i < t.size(); ++i) {
      const std::string &text = t.data<std::string>()[i];
      const auto [at, is_new] = known.emplace(text, static_cast<int64_t>(texts.size()));
      if (is_new) texts.push_back(text);
      numbers.data<int64_t>()[i] = at->second;
    }
    inputs.emplace_back(numbers);
  }
  return compute_lowered(*find_operator(call.node.domain, call.node.operation), call.node, call.opset, inputs);
}

}  // namespace

std::vector<HostValue> move_texts(const HostCall &call) {
  std::vector<std::string> texts = {""};
  std::vector<HostValue> results = run_on_numbers(call, texts);
  for (HostValue &r : results) {
    if (r.is_empty()) continue;
    const Tensor numbers = r.tensor().in_layout(Layout::row_major), t = Tensor::empty(numbers.shape(), Type::text);
    for (int64_t i = 0; i < t.size(); ++i)
      t.data<std::string>()[i] = texts.at(static_cast<size_t>(numbers.data<int64_t>()[i]));
    r = t;
  }
  return results;
}

std::vector<HostValue> look_at_texts(const HostCall &call) {
  std::vector<std::string> texts = {""};
  return run_on_numbers(call, texts);
}

}  // namespace saltern
