#pragma once
// Rows that come to the table of operators while a program runs.

#include "runtime/onnx/operators/operators.h"

namespace saltern {

// Not while models run. The domain and name are new.
void add_operator(const Operator &row);

}  // namespace saltern
