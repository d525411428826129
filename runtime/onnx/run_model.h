#pragma once
// Runs a model node by node with what is at hand: library kernels, formulas, host operators. Branches and loops are
// taken as they come; shapes are whatever the inputs have.

#include <map>
#include <string>
#include <vector>

#include "runtime/onnx/model.h"
#include "runtime/onnx/operators/value.h"

namespace saltern {

using HostValues = std::map<std::string, HostValue>;

// The outputs by name. Throws an Error that names the input or node at fault; Unsupported where an operator is not
// known, naming all of them at once.
HostValues run_model(const Model &model, const HostValues &inputs);

// The inputs that a caller must give: all that no constant stands for.
std::vector<std::string> required_inputs(const Model &model);

// Throws an Error that names the input unless the value has the type and shape that the model says.
void check_input(const std::string &name, const Graph::Value &wanted, const HostValue &value);
void check_input(const std::string &name, const Graph::Value &wanted, Type type, const Shape &shape);

// Throws Unsupported that names every node whose operator is not known.
void check_operators(const Model &model);

}  // namespace saltern
