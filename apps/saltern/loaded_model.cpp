#include "apps/saltern/loaded_model.h"

#include <algorithm>

#include "apps/saltern/command.h"
#include "apps/saltern/model_options.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/model_file.h"
#include "runtime/onnx/export.h"
#include "runtime/onnx/lower_model.h"

namespace saltern {

LoadedModel::LoadedModel(const std::string &path) : is_lowered_(!is_onnx(path)) {
  on_input([&] {
    if (is_lowered_)
      model_.graph = load_model(path);
    else
      model_ = load_onnx(path);
  });
}

Model LoadedModel::onnx() const { return is_lowered_ ? onnx_of(model_.graph) : model_; }

HostValues LoadedModel::run(const HostValues &inputs) const {
  if (!is_lowered_) {
    std::map<std::string, Shape> shapes;
    for (const auto &[name, v] : inputs)
      if (v.is_tensor()) shapes[name] = v.tensor().shape();
    return on_input([&] {
      expect_room(model_, shapes);
      return run_model(model_, inputs);
    });
  }
  HostValues outputs;
  for (const auto &[name, t] : saltern::run(model_.graph, tensors_of(inputs))) outputs[name] = t;
  return outputs;
}

Graph LoadedModel::lowered(const std::map<std::string, Shape> &shapes) const {
  return on_input([&] {
    const std::vector<std::string> &known = model_.graph.inputs;
    for (const auto &[name, shape] : shapes) {
      if (std::find(known.begin(), known.end(), name) == known.end()) fail("the model has no input '", name, "'");
      if (is_lowered_ && shape != model_.graph.value(name).shape)
        fail("the input '", name, "' is ", to_string(model_.graph.value(name).shape),
             " in a model of fixed shapes; given was ", to_string(shape));
    }
    return is_lowered_ ? model_.graph : lowered_for(model_, shapes);
  });
}

std::map<std::string, Tensor> tensors_of(const HostValues &values) {
  std::map<std::string, Tensor> tensors;
  for (const auto &[name, value] : values) {
    if (!value.is_tensor()) unsupported("'", name, "' is not a tensor; compiled models take and give tensors only");
    tensors[name] = value.tensor();
  }
  return tensors;
}

std::map<std::string, Shape> shapes_of(const std::map<std::string, Tensor> &tensors) {
  std::map<std::string, Shape> shapes;
  for (const auto &[name, t] : tensors) shapes[name] = t.shape();
  return shapes;
}

}  // namespace saltern
