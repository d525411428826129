#pragma once
// Sequences and optionals where there are tensors only, as in a compiled model: the elements of a sequence are called
// NAME.0, NAME.1, ..., an optional is what it holds, or not there.

#include "runtime/graph/graph.h"
#include "runtime/onnx/run_model.h"

namespace saltern {

bool is_sequence(const Graph::Value &value);
bool is_optional(const Graph::Value &value);

std::string element_name(const std::string &sequence, size_t i);
// Whether a name is that of an element of a sequence which may be as long as it likes.
bool is_element_of(const std::string &name, const std::string &sequence);

// Without maps, which no compiled model has.
std::map<std::string, Tensor> flat_tensors(const HostValues &values);
// What lower_model is told of them. A sequence without an element has an empty shape under its own name.
std::map<std::string, Shape> flat_shapes(const HostValues &values);
// The values of these names again. An optional of which no tensor is there is empty.
HostValues unflattened(const Graph &graph, const std::vector<std::string> &names,
                       const std::map<std::string, Tensor> &tensors);

}  // namespace saltern
