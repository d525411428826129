#pragma once
// One operator of ONNX on given inputs, by its lowering or on the host.

#include "runtime/onnx/operators/operators.h"
#include "runtime/tensor/element.h"

namespace saltern {

struct OperatorCall {
  std::string name;
  std::vector<HostValue> inputs;
  Attributes attributes = {};
  size_t outputs = 1;
  int64_t opset = 24;
  std::string domain = {};

  std::vector<HostValue> lowered() const { return compute_lowered(find(), node(), opset, inputs); }
  // Row-major, and all of them tensors.
  std::vector<Tensor> tensors() const {
    std::vector<Tensor> all;
    for (const HostValue &v : lowered()) all.push_back(v.tensor().in_layout(Layout::row_major));
    return all;
  }
  std::vector<HostValue> on_host() const {
    const Graph::Node n = node();
    return find().compute({n, opset, inputs});
  }

 private:
  const Operator &find() const {
    const Operator *op = find_operator(domain, name);
    if (!op) fail("there is no operator ", name);
    return *op;
  }
  Graph::Node node() const {
    Graph::Node n;
    n.operation = name;
    n.domain = domain;
    n.attributes = attributes;
    for (size_t i = 0; i < outputs; ++i) n.outputs.push_back("y" + std::to_string(i));
    return n;
  }
};

// All elements in row-major order.
template <typename T>
std::vector<T> values_of(const HostValue &v) {
  const Tensor t = v.tensor().in_layout(Layout::row_major);
  return std::vector<T>(t.data<T>(), t.data<T>() + t.size());
}

inline Tensor numbers(Shape shape, const std::vector<double> &values, Type type = Type::f32) {
  const Tensor t = Tensor::empty(shape, type);
  for (size_t i = 0; i < values.size(); ++i) set_element(type, t.raw(), static_cast<int64_t>(i), values[i]);
  return t;
}

// Small integers that are not in order, so that a place has a value of its own.
template <typename T>
Tensor scrambled(const Shape &shape) {
  const Tensor t = Tensor::empty(shape, TypeOf<T>::value);
  for (int64_t i = 0; i < t.size(); ++i) t.data<T>()[i] = static_cast<T>(i * 37 % 23 - 11);
  return t;
}

}  // namespace saltern
