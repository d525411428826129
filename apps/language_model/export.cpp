#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <regex>

#include "apps/json_text.h"
#include "apps/language_model/commands.h"
#include "apps/language_model/models.h"
#include "runtime/files/file.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/trace.h"
#include "runtime/onnx/export.h"

namespace saltern {

namespace {

struct ExportOptions {
  std::string model, output = ".", name = "language";
  bool json = false;
};

// Inputs: token, and the state; outputs: scores, and the state by the same names with "next_" before them.
Graph traced_step(LanguageModel &net) {
  const Recording recording;
  const EvaluationMode mode(net);
  NamedVariables inputs = {{"token", Tensor::zeros({1}, Type::i64)}}, outputs;
  std::vector<Variable> state;
  for (const auto &[name, tensor] : net.beginning()) {
    state.emplace_back(tensor);
    inputs.emplace_back(name, state.back());
  }
  const LanguageModel::Stepped s = net.step(inputs[0].second, state);
  outputs.emplace_back("scores", s.scores);
  for (size_t i = 0; i < s.state.size(); ++i) outputs.emplace_back("next_" + inputs[i + 1].first, s.state[i]);
  return trace(inputs, outputs, net.state());
}

std::string alphabet_header(const std::string &name, const std::string &alphabet) {
  std::string numbers;
  for (const unsigned char c : alphabet) numbers += (numbers.empty() ? "" : ", ") + std::to_string(c);
  return "/* The characters of the model: token i is character i. */\nstatic const unsigned char " + name +
         "_alphabet[] = {" + numbers + "};\n";
}

int run(const ExportOptions &o) {
  const TrainedModel model = on_input([&] { return load_trained(o.model); });
  if (!std::regex_match(o.name, std::regex("[A-Za-z_][A-Za-z0-9_]*")))
    throw BadInput("'" + o.name + "' cannot be a name in C: letters, digits and _");
  std::error_code error;
  std::filesystem::create_directories(o.output, error);
  if (error) throw FileError("cannot make the folder " + o.output + ": " + error.message());
  const std::string stem = (std::filesystem::path(o.output) / o.name).string();
  const Graph step = traced_step(*model.net);
  save_model(stem + ".safetensors", step);
  save_onnx(stem + ".onnx", onnx_of(step));
  write_atomically(stem + "_alphabet.h", alphabet_header(o.name, model.alphabet));
  const nlohmann::ordered_json facts = {{"net", stem + ".safetensors"},
                                        {"onnx", stem + ".onnx"},
                                        {"alphabet", stem + "_alphabet.h"},
                                        {"inputs", step.inputs},
                                        {"outputs", step.outputs}};
  if (o.json)
    std::cout << json_text(facts) << "\n";
  else
    for (const char *file : {"net", "onnx", "alphabet"}) std::cout << facts[file].get<std::string>() << "\n";
  return 0;
}

}  // namespace

void define_export(CLI::App &app, Action &chosen) {
  auto o = std::make_shared<ExportOptions>();
  app.add_option("MODEL", o->model, "What training wrote: model.safetensors")->required();
  app.add_option("-o,--output", o->output, "Folder to write to")->capture_default_str();
  app.add_option("--name", o->name, "What files, and names in C, begin with")->capture_default_str();
  app.add_flag("--json", o->json, "One line of JSON");
  app.callback([o, &chosen] { chosen = [o] { return run(*o); }; });
}

}  // namespace saltern
