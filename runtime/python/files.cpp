#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "runtime/graph/graph_net.h"
#include "runtime/graph/trace.h"
#include "runtime/nn/layer.h"
#include "runtime/onnx/export.h"
#include "runtime/onnx/lower_model.h"
#include "runtime/onnx/optimize.h"
#include "runtime/onnx/run_model.h"
#include "runtime/onnx/trainable.h"
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

// A model as a net that trains, for inputs of these shapes, whose first extent is the batch; and its outputs.
std::pair<std::shared_ptr<GraphNet>, std::vector<std::string>> net_of(const Model &model, const Tensors &inputs) {
  std::map<std::string, Shape> shapes;
  std::optional<int64_t> batch;
  for (const std::string &name : required_inputs(model)) {
    const auto given = inputs.find(name);
    if (given == inputs.end()) fail("the input '", name, "' is missing");
    const Shape &shape = shapes[name] = given->second.shape();
    if (shape.empty() || batch.value_or(shape[0]) != shape[0])
      fail("the input '", name, "' is ", to_string(shape),
           "; expected a batch, of which all inputs have the same extent");
    batch = shape[0];
  }
  if (!batch) fail("the model has no inputs");
  TrainableModel made = trainable(model, shapes, *batch);
  return {std::make_shared<GraphNet>(std::move(made.graph), made.parameters, std::move(made.on_tape)), made.outputs};
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
  return lower_model(optimized(with_integer_products(with_shapes(model, shapes))), shapes);
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
      .def("net", net_of, nb::arg("inputs"))
      .def("lowered", lowered, nb::arg("inputs"));
  nb::class_<GraphNet>(m, "GraphNet")
      .def("run", &GraphNet::run, nb::arg("outputs"), nb::arg("inputs"))
      .def("parameters", [](GraphNet &net) { return net.named_parameters(); })
      .def("state",
           [](GraphNet &net) {
             NamedVariables all;
             for (const auto &[name, t] : net.state()) all.emplace_back(name, Variable(t));
             return all;
           })
      .def("set_parameters", [](GraphNet &net, const Tensors &all) { nn::set_parameters(net, all); })
      .def("train", [](GraphNet &net, bool on) { net.train(on); });
  m.def("load_onnx", load_onnx);
}

}  // namespace saltern::python
