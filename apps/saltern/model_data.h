#pragma once
// Inputs and outputs of a model in files:
//
//   DIR         input_0.pb, input_1.pb, ... as ONNX's tests have them; or input_0.npy, ..., or NAME.npy
//   FILE.npz    arrays by the inputs' names, with or without "in:" before them; or in_0, in_1, ..., or input_0, ...
//   FILE.npy, FILE.pb    the only input
//
// Outputs likewise, with output_ and "out:".

#include <string>
#include <vector>

#include "runtime/onnx/run_model.h"

namespace saltern {

// Those of `names`, inputs of the graph, that must be there; all fit what the graph says of them. Throws BadInput that
// names the file and the input.
HostValues read_inputs(const Graph &graph, const std::vector<std::string> &names, const std::string &path);
// Those that there are; at least one.
HostValues read_expected_outputs(const Graph &graph, const std::string &path);

// Into a folder, which is made if need be, or into an .npz file; all of the graph's outputs. `format` is that of files
// in a folder, "pb" or "npy".
void write_outputs(const Graph &graph, const HostValues &outputs, const std::string &path, const std::string &format);

}  // namespace saltern
