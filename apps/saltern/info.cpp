#include <cstdio>
#include <memory>
#include <thread>

#include "apps/json_text.h"
#include "apps/saltern/command.h"
#include "apps/saltern/file_readers.h"
#include "apps/saltern/loaded_model.h"
#include "apps/saltern/machine_options.h"
#include "apps/saltern/training_model.h"
#include "apps/saltern/value_facts.h"
#include "generators/model/model_plan.h"
#include "runtime/files/file.h"
#include "runtime/graph/drawing.h"
#include "runtime/kernels/instruction_set.h"
#include "runtime/kernels/kernels.h"
#include "runtime/onnx/optimize.h"
#include "runtime/version.h"

namespace saltern {

namespace {

using Json = nlohmann::ordered_json;

struct InfoOptions {
  ModelOptions model;  // or any other file
  ThreadOptions threads;
  TrainingOptions training;
  std::string dot, svg;
  bool optimised = false, lowered = false, train = false, json = false;

  bool draws() const { return !dot.empty() || !svg.empty(); }
  bool is_about_a_model() const { return draws() || train || !model.shapes.empty() || !model.constants.empty(); }
};

Json about_this_machine() {
  Json sets = Json::array(), names = Json::array();
  for (InstructionSet s : available_instruction_sets()) sets.push_back(name(s));
  for (const CompiledKernel &k : compiled_kernels()) names.push_back(k.name);
  return {{"version", version()},     {"cpu", cpu_model()},   {"cores", std::thread::hardware_concurrency()},
          {"instruction_sets", sets}, {"threads", threads()}, {"kernels", names}};
}

bool ends_with(const std::string &text, const std::string &end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// By its content; by its name where that does not tell.
const FileReader &reader_of(const std::string &path) {
  const FileKind kind = on_input([&] { return kind_of_file(path); });
  std::string known;
  for (const FileReader &r : file_readers()) {
    if (r.kind == kind && kind != FileKind::other) return r;
    for (const std::string &ending : r.endings) {
      if (kind != FileKind::text && ends_with(path, ending)) return r;
      known += (known.empty() ? "" : ", ") + ending;
    }
  }
  throw BadInput(path + " is " + to_string(kind) + ": there is no reader for it; there are readers for " + known);
}

constexpr const char *for_models = "--shape, --constant, --train, --dot and --svg are for models";

// What a compiled training step takes, beside the memory that its kernels allocate while they run.
void add_training(const InfoOptions &o, Json &facts) {
  TrainingModel model(LoadedModel(o.model), o.training);
  const generators::ModelPlan plan = on_input([&] { return generators::plan_model(model.step()); });
  int64_t batch = 0;
  for (const auto &[name, t] : model.inputs()) batch += static_cast<int64_t>(t.bytes());
  facts["training"] = {{"loss", o.training.loss},
                       {"optimizer", o.training.optimizer},
                       {"batch", o.training.batch},
                       {"state_bytes", plan.state_bytes},
                       {"batch_bytes", batch},
                       {"workspace_bytes", plan.workspace_bytes},
                       {"peak_bytes", plan.state_bytes + batch + plan.workspace_bytes},
                       {"steps", plan.steps.size()},
                       {"kernels", plan.kernels}};
}

Json about_file(const InfoOptions &o) {
  const FileReader &reader = reader_of(o.model.path);
  if (!reader.is_model && o.is_about_a_model()) throw BadInput(o.model.path + " is no model: " + for_models);
  Json facts = on_input([&] { return reader.describe(o.model); });
  if (o.train) add_training(o, facts);
  return facts;
}

Graph graph_to_draw(const InfoOptions &o) {
  const LoadedModel model(o.model);
  if (o.lowered) return model.lowered();
  return o.optimised ? on_input([&] { return optimized(model.onnx()).graph; }) : model.graph();
}

void draw(const InfoOptions &o) {
  const Drawing drawing = drawing_of(graph_to_draw(o));
  on_input([&] {
    if (!o.dot.empty()) write_atomically(o.dot, to_dot(drawing));
    if (!o.svg.empty()) write_atomically(o.svg, to_svg(drawing));
  });
}

// One line a fact; where a fact is a list of things with parts, one line for each of them, and where it has parts itself, one
// for each of these.
void print_text(const Json &facts) {
  for (const auto &[key, value] : facts.items()) {
    if (value.is_object()) {
      std::printf("%s:\n", key.c_str());
      for (const auto &[part, said] : value.items())
        std::printf("    %-17s %s\n", (part + ":").c_str(), word(said).c_str());
      continue;
    }
    std::printf("%-17s", (key + ":").c_str());
    if (!value.is_array()) std::printf(" %s", word(value).c_str());
    for (const Json &v : value.is_array() ? value : Json::array()) {
      std::printf(v.is_object() ? "\n   " : "");
      for (const Json &part : v.is_object() ? v : Json::array({v})) std::printf(" %s", word(part).c_str());
    }
    std::printf("\n");
  }
}

int run_info(const InfoOptions &o) {
  o.threads.use();
  if (o.model.path.empty() && o.is_about_a_model()) throw BadInput(for_models);
  const Json facts = o.model.path.empty() ? about_this_machine() : about_file(o);
  if (o.draws()) draw(o);
  if (o.json)
    std::printf("%s\n", json_text(facts).c_str());
  else
    print_text(facts);
  return 0;
}

}  // namespace

void define_info(CLI::App &app, Action &chosen) {
  auto o = std::make_shared<InfoOptions>();
  o->model.add_to(app);
  app.get_option("MODEL")
      ->required(false)
      ->description(
          "A file to tell about: a model (ONNX or saved here), tensors (safetensors, .npy, .npz), IDX data, a PNG or "
          "JPEG; "
          "without one, this machine")
      ->check(CLI::ExistingFile);
  app.add_option("--svg", o->svg, "Draw the model into this file");
  app.add_option("--dot", o->dot, "Write the model's drawing for Graphviz");
  CLI::Option *optimised = app.add_flag("--optimised,--optimized", o->optimised, "Draw it as `convert` would leave it");
  app.add_flag("--lowered", o->lowered, "Draw it in Saltern's own operations, as it is compiled")->excludes(optimised);
  app.add_flag("--train", o->train, "Tell what a compiled training step takes, too");
  o->training.add_to(app);
  o->threads.add_to(app);
  app.add_flag("--json", o->json, "One line of JSON");
  app.footer(
      "  saltern info model.onnx --shape x=1,3,224,224 --svg model.svg\n"
      "  saltern info model.onnx --train --batch 64 --loss cross_entropy --optimizer adamw");
  app.callback([o, &app, &chosen] {
    expect_train(app, o->train);
    if (o->training.memory > 0) throw CLI::ValidationError("--memory", "is for commands that compile the step");
    chosen = [o] { return run_info(*o); };
  });
}

}  // namespace saltern
