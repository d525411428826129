#pragma once
// Models to ONNX files, and Saltern's own nets as ONNX models.

#include <string>

#include "runtime/onnx/model.h"

namespace saltern {

// Atomic: until it returns, `path` holds what it held before. Constants go into the file itself; where that would be
// larger than a protobuf can be (2 GB), they go into PATH.data beside it.
void save_onnx(const std::string &path, const Model &model);

// A traced net (runtime/graph/trace.h), each operation as the ONNX operator of the same meaning. Throws Unsupported
// that names an operation that has none.
Model onnx_of(const Graph &net);

}  // namespace saltern
