#include "apps/saltern/model_options.h"

#include <CLI/CLI.hpp>
#include <charconv>

#include "apps/saltern/command.h"

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

void ModelOptions::add_to(CLI::App &app) {
  app.add_option("MODEL", path, "An ONNX file, or a net that was traced and saved")->required();
  // One value each, so that what stands behind it is not taken for another shape.
  app.add_option("--shape", shapes,
                 "The shape of an input whose extents the model leaves open: NAME=1,3,224,224; or of an element of a "
                 "sequence: NAME.0=3,4")
      ->allow_extra_args(false);
  app.add_option("--constant", constants,
                 "An input that always has this value, as shapes and axes do: NAME=1,2 or NAME=FILE.pb")
      ->allow_extra_args(false);
}

std::map<std::string, Shape> ModelOptions::given_shapes() const {
  std::map<std::string, Shape> given;
  for (const std::string &s : shapes) given.insert(parsed_shape(s));
  return given;
}

}  // namespace saltern
