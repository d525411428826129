#pragma once
// One operator of ONNX on given tensors.

#include "runtime/operators/operators.h"

namespace saltern {

struct OneOperator {
  std::string name;
  std::vector<Tensor> inputs;  // undefined: absent
  Attributes attributes = {};
  size_t outputs = 1;
  int64_t opset = 22;

  std::vector<Tensor> run() const {
    Graph::Node node;
    node.operation = name;
    node.attributes = attributes;
    for (size_t i = 0; i < outputs; ++i) node.outputs.push_back("y" + std::to_string(i));
    std::vector<HostValue> given;
    for (const Tensor &t : inputs) given.push_back(t.defined() ? HostValue(t) : HostValue());
    const Operator *op = find_operator("", name);
    if (!op) fail("there is no operator ", name);
    std::vector<Tensor> results;
    for (const HostValue &v : compute_operator(*op, node, opset, given))
      results.push_back(v.tensor().in_layout(Layout::row_major));
    return results;
  }
};

// Small integers that are not in order, so that a place has a value of its own.
template <typename T>
Tensor scrambled(const Shape &shape) {
  const Tensor t = Tensor::empty(shape, TypeOf<T>::value);
  for (int64_t i = 0; i < t.size(); ++i) t.data<T>()[i] = static_cast<T>(i * 37 % 23 - 11);
  return t;
}

}  // namespace saltern
