#pragma once
// Models to ONNX files, and Saltern's own nets as ONNX models.

#include <string>

#include "runtime/onnx/model.h"

namespace saltern {

struct SaveOptions {
  int64_t most_inside = int64_t{1} << 30;  // bytes of constants in the file itself; a protobuf can have 2 GB
};

// Atomic: until it returns, `path` holds what it held before. Constants go into the file itself; where they are more
// than that, they go into PATH.data beside it.
void save_onnx(const std::string &path, const Model &model, const SaveOptions &options = {});

// A traced net (runtime/graph/trace.h), each operation as the ONNX operator of the same meaning. Throws Unsupported
// that names an operation that has none.
Model onnx_of(const Graph &net);

}  // namespace saltern
