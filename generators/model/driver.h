#pragma once
// The C sources of a compiled model: a C99 header, the driver behind it, a program that calls it, and the weights as an
// object of their own. They are the files of driver/ with the model's name, sizes and tables (driver_source.h).

#include <string>

#include "generators/model/plan.h"

namespace saltern::generators {

// What a CPU must have for the kernels: a target's name, and its features as Halide's run-time support numbers them.
struct CpuNeed {
  std::string name;
  std::vector<uint64_t> features;
  int bytes_feature = 0;  // the number of the one that kernels which multiply bytes ask for
};

// `weights_inside`: in the library; else in a file of their own, NAME.weights.
std::string header_text(const Plan &plan, const std::string &name, bool weights_inside);
std::string driver_text(const Plan &plan, const std::string &name, bool weights_inside, const CpuNeed &least,
                        const KernelMemory &memory);
// A program that runs the model on files.
std::string main_text(const Plan &plan, const std::string &name, bool weights_inside);
// Assembler text that takes in the file `weights_file`, which must stand in the assembler's include path.
std::string weights_text(const std::string &name, const std::string &weights_file);
// What stands before the weights in NAME.weights (driver/weights_head.h).
std::vector<uint8_t> weights_file_head(const std::vector<uint8_t> &weights);

}  // namespace saltern::generators
