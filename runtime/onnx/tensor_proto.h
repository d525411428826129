#pragma once
// Tensors, sequences and optionals as ONNX's protobuf messages.

#include <string>

#include "onnx/onnx-data.pb.h"
#include "runtime/graph/graph.h"
#include "runtime/onnx/operators/onnx_types.h"
#include "runtime/onnx/operators/value.h"

namespace saltern {

// `folder` is where data that stands in other files is; nothing outside it is read.
Tensor tensor_of(const onnx::TensorProto &proto, const std::string &folder);
Tensor dense_tensor_of(const onnx::SparseTensorProto &proto, const std::string &folder);
// Whether several elements of that type stand in one byte of a file.
bool packs_elements(Type type);
onnx::TensorProto proto_of(const Tensor &tensor, const std::string &name);

// A file that holds a TensorProto, SequenceProto or OptionalProto, as `container` says.
HostValue read_value_file(const std::string &path, Graph::Container container);
void write_value_file(const std::string &path, const HostValue &value, Graph::Container container,
                      const std::string &name);

}  // namespace saltern
