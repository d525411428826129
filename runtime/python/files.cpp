#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "runtime/graph/trace.h"
#include "runtime/onnx/export.h"
#include "runtime/onnx/lower_model.h"
#include "runtime/onnx/optimize.h"
#include "runtime/onnx/run_model.h"
#include "runtime/python/bindings.h"
#include "runtime/tensor/checkpoint.h"

namespace nb = nanobind;

namespace saltern::python {

namespace {

using Tensors = std::map<std::string, Variable>;

void save(const std::string &path, const Tensors &tensors, const std::map<std::string, std::string> &metadata) {
  Checkpoint c;
  for (const auto &[name, v] : tensors) c.tensors[name] = v.value();
  c.metadata = metadata;
  save_checkpoint(path, c);
}

std::pair<Tensors, std::map<std::string, std::string>> load(const std::string &path) {
  const Checkpoint c = load_checkpoint(path);
  Tensors all;
  for (const auto &[name, t] : c.tensors) all.emplace(name, Variable(t));
  return {all, c.metadata};
}

// The outputs by name.
Tensors run(const Model &model, const Tensors &inputs) {
  HostValues in;
  for (const auto &[name, v] : inputs) in[name] = v.value();
  Tensors out;
  for (const auto &[name, value] : run_model(model, in)) {
    if (!value.is_tensor()) unsupported("the output '", name, "' is no tensor");
    out.emplace(name, Variable(value.tensor()));
  }
  return out;
}

// What was computed from inputs while a Recording lived; `names` are those of constants.
Graph traced(const NamedVariables &inputs, const NamedVariables &outputs, const Tensors &names) {
  std::map<std::string, Tensor> constants;
  for (const auto &[name, v] : names) constants[name] = v.value();
  return trace(inputs, outputs, constants);
}

// A model for inputs of these shapes, as the compiler takes it.
Graph lowered(const Model &model, const Tensors &inputs) {
  std::map<std::string, Shape> shapes;
  for (const auto &[name, v] : inputs) shapes[name] = v.shape();
  return lower_model(optimized(with_shapes(model, shapes)), shapes);
}

}  // namespace

void bind_files(nb::module_ &m) {
  m.def("save", save, nb::arg("path"), nb::arg("tensors"), nb::arg("metadata"));
  m.def("load", load, nb::arg("path"));
  nb::class_<Graph>(m, "Graph").def_ro("inputs", &Graph::inputs).def_ro("outputs", &Graph::outputs);
  m.def("traced", traced, nb::arg("inputs"), nb::arg("outputs"), nb::arg("names"));
  m.def(
      "export_onnx", [](const std::string &path, const Graph &graph) { save_onnx(path, onnx_of(graph)); },
      nb::arg("path"), nb::arg("graph"));
  nb::class_<Recording>(m, "Recording").def(nb::init<>());
  nb::class_<Model>(m, "Model")
      .def_prop_ro("inputs", required_inputs)
      .def_prop_ro("outputs", [](const Model &model) { return model.graph.outputs; })
      .def("run", run)
      .def("lowered", lowered, nb::arg("inputs"));
  m.def("load_onnx", load_onnx);
}

}  // namespace saltern::python
