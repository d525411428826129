#pragma once
// Library kernels compiled ahead of time for any target, GPUs among them: a static library and a C header,
//
//   cc main.c FOLDER/libNAME.a -lm -lpthread -ldl
//
// with Halide's run-time support in it, which looks for the GPU's driver when a kernel is first called. Nothing here needs
// the Halide compiler's headers; all errors are saltern::Error.

#include <cstdint>
#include <string>
#include <vector>

namespace saltern::generators {

struct KernelLibraryOptions {
  std::string name;    // a C identifier; the function of kernel dense is NAME_dense
  std::string folder;  // made if need be
  std::vector<std::string> kernels;
  std::string target;  // as all_targets() (generators/targets.h) names them
};

struct KernelLibrary {
  std::string header, library;  // paths
  int64_t code_bytes = 0;
};

// Throws an Error that names the kernel or target at fault, an Unsupported where a kernel has no GPU mapping.
KernelLibrary compile_kernels(const KernelLibraryOptions &options);

}  // namespace saltern::generators
