#pragma once
// Texts through operators that only move elements. Formulas cannot hold texts, but they can hold their numbers: each
// text of the inputs gets one, equal ones the same, the node runs on the numbers, and the result's numbers become texts
// again. Number 0 is the empty text, so that a formula's zero is one.

#include "runtime/onnx/operators/operators.h"

namespace saltern {

// For nodes whose results all have the type of the texts among their inputs.
std::vector<HostValue> move_texts(const HostCall &call);
// For nodes that look at the shapes of texts only, or at which are equal.
std::vector<HostValue> look_at_texts(const HostCall &call);

}  // namespace saltern
