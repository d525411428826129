#pragma once
// The parts of the Python module, a file each.

#include <nanobind/nanobind.h>

namespace saltern::python {

// Functions, layers, and tables of what nets cost.
void bind_layers(nanobind::module_ &m);
void bind_metrics(nanobind::module_ &m);
void bind_transforms(nanobind::module_ &m);
// Safetensors and ONNX.
void bind_files(nanobind::module_ &m);
// The rows of optimizers and schedules of rates.
void bind_optimizers(nanobind::module_ &m);
// Logs and reports of training.
void bind_logs(nanobind::module_ &m);

}  // namespace saltern::python
