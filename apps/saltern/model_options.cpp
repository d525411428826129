#include "apps/saltern/model_options.h"

#include <charconv>
#include <filesystem>

#include "apps/saltern/command.h"
#include "runtime/graph/model_file.h"
#include "runtime/onnx/lower_model.h"

namespace saltern {

namespace {

// NAME=1,3,224,224; a name may have an equals sign itself.
std::pair<std::string, Shape> parsed_shape(const std::string &text) {
  const size_t equals = text.rfind('=');
  Shape shape;
  bool good = equals != std::string::npos && equals > 0;
  for (size_t at = equals + 1; good && at < text.size();) {
    int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), extent);
    const auto next = static_cast<size_t>(end - text.data());
    good = error == std::errc() && extent >= 0 && (next == text.size() || text[next] == ',');
    shape.push_back(extent);
    at = next + 1;
  }
  if (!good) throw BadInput("--shape " + text + ": expected NAME=1,3,224,224");
  return {text.substr(0, equals), shape};
}

}  // namespace

bool is_onnx(const std::string &path) { return std::filesystem::path(path).extension() == ".onnx"; }

void ModelOptions::add_to(CLI::App &app) {
  app.add_option("MODEL", path, "An ONNX file, or a net that was traced and saved")->required();
  // One value each, so that what stands behind it is not taken for another shape.
  app.add_option("--shape", shapes, "The shape of an input whose extents the model leaves open: NAME=1,3,224,224")
      ->allow_extra_args(false);
}

Graph ModelOptions::graph() const {
  std::map<std::string, Shape> given;
  for (const std::string &s : shapes) given.insert(parsed_shape(s));
  return on_input([&] {
    if (is_onnx(path)) {
      const Model model = load_onnx(path);
      for (const auto &[name, shape] : given)
        if (std::find(model.graph.inputs.begin(), model.graph.inputs.end(), name) == model.graph.inputs.end())
          fail("--shape: the model has no input '", name, "'");
      return lower_model(model, given);
    }
    if (!given.empty()) fail("--shape is for ONNX files; ", path, " has fixed shapes");
    return load_model(path);
  });
}

}  // namespace saltern
