#include "apps/saltern/model_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "apps/saltern/command.h"
#include "runtime/element.h"
#include "runtime/graph/model_file.h"
#include "runtime/onnx/lower_model.h"
#include "runtime/onnx/optimize.h"
#include "runtime/onnx/run_model.h"
#include "runtime/onnx/tensor_proto.h"

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
  app.add_option("--constant", constants,
                 "An input that always has this value, as shapes and axes do: NAME=1,2 or NAME=FILE.pb")
      ->allow_extra_args(false);
}

namespace {

using Shapes = std::map<std::string, Shape>;

void check_input(const Model &model, const std::string &name, const char *option) {
  if (std::find(model.graph.inputs.begin(), model.graph.inputs.end(), name) == model.graph.inputs.end())
    fail(option, ": the model has no input '", name, "'");
}

Shapes checked(const Model &model, const Shapes &given) {
  for (const auto &[name, shape] : given) check_input(model, name, "--shape");
  return given;
}

// 1,-2,0.5 as a tensor of the input's type: one number for an input of rank 0, else a list.
Tensor parsed_numbers(const std::string &text, const Graph::Value &v) {
  std::vector<double> numbers;
  for (size_t at = 0; at < text.size();) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    const auto next = static_cast<size_t>(end - text.data());
    if (error != std::errc() || (next < text.size() && text[next] != ','))
      fail("'", text, "' is not a list of numbers");
    if (!is_real(v.type) && std::abs(number) > 9e15) fail("give a file for an integer of this size");
    numbers.push_back(number);
    at = next + 1;
  }
  const bool single = v.ranked && v.shape.empty();
  if ((single && numbers.size() != 1) || v.shape.size() > 1) fail("give a file for a value of this shape");
  const Tensor t = Tensor::empty(single ? Shape{} : Shape{static_cast<int64_t>(numbers.size())}, v.type);
  for (size_t i = 0; i < numbers.size(); ++i) set_element(v.type, t.raw(), static_cast<int64_t>(i), numbers[i]);
  return t;
}

// NAME=1,2 or NAME=FILE.pb: the input becomes a constant.
void fix_input(Model &model, const std::string &text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) fail("--constant ", text, ": expected NAME=1,2 or NAME=FILE.pb");
  const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
  check_input(model, name, "--constant");
  Graph::Value &v = model.graph.values.at(name);
  try {
    const bool in_file = std::filesystem::path(value).extension() == ".pb";
    const Tensor given = in_file ? read_value_file(value, Graph::Container::tensor).tensor() : parsed_numbers(value, v);
    if (given.type() != v.type) fail("it is ", facts(given.type()).name, ", expected ", facts(v.type).name);
    v.constant = given;
    v.shape = given.shape();
  } catch (const Error &e) {
    fail("--constant ", text, ": ", e.what());
  }
}

Model loaded(const ModelOptions &options) {
  Model model = load_onnx(options.path);
  for (const std::string &c : options.constants) fix_input(model, c);
  return model;
}

}  // namespace

Graph lowered_for(Model model, const std::map<std::string, Shape> &shapes) {
  for (const auto &[name, shape] : shapes) {
    const auto it = model.graph.values.find(name);
    if (it == model.graph.values.end() || it->second.constant.defined()) continue;
    Graph::Value &v = it->second;
    bool fits = !v.ranked || v.shape.size() == shape.size();
    for (size_t d = 0; fits && v.ranked && d < shape.size(); ++d) fits = v.shape[d] < 0 || v.shape[d] == shape[d];
    if (!fits) continue;  // lower_model says so
    v.shape = shape;
    v.symbols.clear();
    v.ranked = true;
  }
  return lower_model(optimized(std::move(model)), shapes);
}

std::map<std::string, Shape> ModelOptions::given_shapes() const {
  std::map<std::string, Shape> given;
  for (const std::string &s : shapes) given.insert(parsed_shape(s));
  return given;
}

Graph ModelOptions::graph() const {
  return on_input([&] {
    if (is_onnx(path)) {
      const Model model = loaded(*this);
      return lowered_for(model, checked(model, given_shapes()));
    }
    if (!shapes.empty()) fail("--shape is for ONNX files; ", path, " has fixed shapes");
    if (!constants.empty()) fail("--constant is for ONNX files");
    return load_model(path);
  });
}

Graph ModelOptions::graph(const std::string &batch, int64_t samples) const {
  return on_input([&] {
    if (!is_onnx(path)) fail("--dynamic is for ONNX files; ", path, " has fixed shapes");
    const Model model = loaded(*this);
    Shapes given = checked(model, given_shapes());
    for (const std::string &name : required_inputs(model)) {
      const Graph::Value &v = model.graph.value(name);
      Shape &shape = given.emplace(name, v.shape).first->second;
      if (shape.empty()) fail("--dynamic ", batch, ": the input '", name, "' has no dimensions");
      for (size_t d = 1; d < v.symbols.size(); ++d)
        if (v.symbols[d] == batch)
          fail("--dynamic ", batch, ": it is dimension ", d, " of '", name, "'; expected the first");
      if (batch != "batch" && !v.symbols.empty() && v.symbols[0] != batch)
        fail("--dynamic ", batch, ": the first dimension of '", name, "' is called '", v.symbols[0], "'");
      if (v.ranked && v.shape[0] >= 0)
        fail("--dynamic ", batch, ": the model fixes the first dimension of '", name, "' to ", v.shape[0]);
      shape[0] = samples;
      for (size_t d = 1; d < shape.size(); ++d)
        if (shape[d] < 0) fail("the input '", name, "' leaves dimension ", d, " open: --shape ", name, "=... gives it");
    }
    return lowered_for(model, given);
  });
}

}  // namespace saltern
