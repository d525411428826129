#pragma once
// A model as one file: a safetensors file of its constants whose metadata holds the graph's text under "graph", so that
// other tools can read the weights and people the structure.

#include <string>

#include "runtime/graph/graph.h"
#include "runtime/tensor/checkpoint.h"

namespace saltern {

// Atomic: until it returns, `path` holds what it held before.
void save_model(const std::string &path, const Graph &graph);

// Whether a file that was read as tensors is a model.
bool holds_model(const Checkpoint &checkpoint);

// Throws an Error that names the file and the fault. The result is valid, and no constant has a NaN.
Graph load_model(const std::string &path);
// The same from memory; errors call it `name`.
Graph decode_model(const std::vector<uint8_t> &bytes, const std::string &name);

}  // namespace saltern
