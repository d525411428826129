#include "apps/saltern/model_data.h"

#include <filesystem>

#include "apps/saltern/command.h"
#include "runtime/onnx/tensor_proto.h"

namespace saltern {

namespace fs = std::filesystem;

HostValues read_inputs(const Model &model, const std::string &folder) {
  HostValues inputs;
  const std::vector<std::string> names = required_inputs(model);
  for (size_t i = 0; i < names.size(); ++i) {
    const Graph::Value &v = model.graph.value(names[i]);
    const std::string path = folder + "/input_" + std::to_string(i) + ".pb";
    const bool may_lack =
        v.container == Graph::Container::optional || v.container == Graph::Container::optional_sequence;
    if (!fs::exists(path)) {
      if (may_lack) continue;
      throw BadInput("the input '" + names[i] + "' is missing: there is no " + path);
    }
    inputs[names[i]] = read_value_file(path, v.container);
  }
  return inputs;
}

void write_outputs(const Model &model, const HostValues &outputs, const std::string &folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw BadInput("cannot make the folder " + folder + ": " + error.message());
  for (size_t i = 0; i < model.graph.outputs.size(); ++i) {
    const std::string &name = model.graph.outputs[i];
    write_value_file(folder + "/output_" + std::to_string(i) + ".pb", outputs.at(name),
                     model.graph.value(name).container, name);
  }
}

}  // namespace saltern
