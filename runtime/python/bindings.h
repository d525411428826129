#pragma once
// The parts of the Python module, a file each.

#include <nanobind/nanobind.h>

namespace saltern::python {

// Safetensors, ONNX, and updates of parameters.
void bind_files(nanobind::module_ &m);

}  // namespace saltern::python
