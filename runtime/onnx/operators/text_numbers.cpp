#include "runtime/onnx/operators/text_numbers.h"

#include "runtime/onnx/operators/operators.h"

namespace saltern {

Tensor TextNumbers::of(const Tensor &t) {
  if (t.type() != Type::text) return t;
  const Tensor from = t.in_layout(Layout::row_major), numbers = Tensor::empty(t.shape(), Type::i64);
  for (int64_t i = 0; i < t.size(); ++i) {
    const std::string &text = from.data<std::string>()[i];
    const auto [at, is_new] = known_.emplace(text, static_cast<int64_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    numbers.data<int64_t>()[i] = at->second;
  }
  return numbers;
}

Tensor TextNumbers::texts(const Tensor &numbers) const {
  const Tensor from = numbers.in_layout(Layout::row_major), t = Tensor::empty(numbers.shape(), Type::text);
  for (int64_t i = 0; i < t.size(); ++i)
    t.data<std::string>()[i] = texts_.at(static_cast<size_t>(from.data<int64_t>()[i]));
  return t;
}

namespace {

std::vector<HostValue> run_on_numbers(const HostCall &call, TextNumbers &numbers) {
  std::vector<HostValue> inputs;
  for (const HostValue &v : call.inputs) inputs.push_back(v.is_tensor() ? numbers.of(v.tensor()) : v);
  return compute_lowered(*find_operator(call.node.domain, call.node.operation), call.node, call.opset, inputs);
}

}  // namespace

std::vector<HostValue> move_texts(const HostCall &call) {
  TextNumbers numbers;
  std::vector<HostValue> results = run_on_numbers(call, numbers);
  for (HostValue &r : results)
    if (r.is_tensor()) r = numbers.texts(r.tensor());
  return results;
}

std::vector<HostValue> look_at_texts(const HostCall &call) {
  TextNumbers numbers;
  return run_on_numbers(call, numbers);
}

}  // namespace saltern
