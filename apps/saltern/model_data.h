#pragma once
// Inputs and outputs of a model in files: a folder of input_0.pb, input_1.pb, ... as ONNX's tests have them.

#include <string>

#include "runtime/onnx/run_model.h"

namespace saltern {

HostValues read_inputs(const Model &model, const std::string &folder);
// output_0.pb, output_1.pb, ... in the order of the model's outputs.
void write_outputs(const Model &model, const HostValues &outputs, const std::string &folder);

}  // namespace saltern
