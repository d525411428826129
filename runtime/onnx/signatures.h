#pragma once
// What ONNX's own definitions say of its operators: how many inputs and outputs, which attributes. The table comes from
// ONNX's wheel when Saltern is built (cmake/onnx_signatures.py).

#include "runtime/onnx/model.h"

namespace saltern {

// Fails where a file is not one that ONNX allows: versions of operators that there never were, nodes with inputs,
// outputs or attributes that their operator has not, or without those that it needs; Unsupported where a version is
// newer than the table. Operators that are not in the table, and those that the model brings along, are not judged.
void check_signatures(const Model &model);

}  // namespace saltern
