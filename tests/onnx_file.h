#pragma once
// ONNX files written by hand, good but for what a test makes bad.

#include "onnx/onnx-ml.pb.h"
#include "runtime/onnx/model.h"

namespace saltern {

inline void declare(onnx::ValueInfoProto &p, const std::string &name, const Shape &shape,
                    int type = onnx::TensorProto::FLOAT) {
  p.set_name(name);
  auto &tensor = *p.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  for (int64_t e : shape) tensor.mutable_shape()->add_dim()->set_dim_value(e);
}

template <typename Parent>
onnx::NodeProto &add_node(Parent &to, const std::string &operation, const std::vector<std::string> &inputs,
                          const std::vector<std::string> &outputs, const std::string &domain = "") {
  onnx::NodeProto &n = *to.add_node();
  n.set_op_type(operation);
  n.set_domain(domain);
  for (const std::string &i : inputs) n.add_input(i);
  for (const std::string &o : outputs) n.add_output(o);
  return n;
}

inline onnx::AttributeProto &add_attribute(onnx::NodeProto &to, const std::string &name,
                                           onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto &a = *to.add_attribute();
  a.set_name(name);
  a.set_type(type);
  return a;
}

// x (f32 [2, 3]) to y of the same shape, and no node yet.
inline onnx::ModelProto empty_file() {
  onnx::ModelProto p;
  p.set_ir_version(10);
  p.add_opset_import()->set_version(21);
  declare(*p.mutable_graph()->add_input(), "x", {2, 3});
  declare(*p.mutable_graph()->add_output(), "y", {2, 3});
  return p;
}

inline onnx::ModelProto relu_file() {
  onnx::ModelProto p = empty_file();
  add_node(*p.mutable_graph(), "Relu", {"x"}, {"y"});
  return p;
}

inline Model decoded(const std::string &bytes, const std::string &folder = "no-such-folder") {
  return decode_onnx({bytes.begin(), bytes.end()}, "file", folder);
}
inline Model decoded(const onnx::ModelProto &p, const std::string &folder = "no-such-folder") {
  return decoded(p.SerializeAsString(), folder);
}

}  // namespace saltern
