#pragma once
// The C sources of a compiled model: a C99 header, the driver behind it, and the weights as an object of their own.
//
// The driver is plain C: tables of buffers and steps, and one loop. Several models can be linked into one program:
// every symbol begins with the model's name, except those of Halide's run-time support, which are weak.

#include <string>

#include "generators/model/plan.h"

namespace saltern::generators {

// Throws unless `name` is a C identifier that can stand before all symbols of a model.
void check_model_name(const std::string &name);

std::string header_text(const Plan &plan, const std::string &name);
std::string driver_text(const Plan &plan, const std::string &name);
// Assembler text that takes in the file `weights_file`, which must stand in the assembler's include path.
std::string weights_text(const std::string &name, const std::string &weights_file);

}  // namespace saltern::generators
