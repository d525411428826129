#include "generators/model/compile.h"

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/json_text.h"
#include "apps/saltern/command.h"
#include "apps/saltern/compiled_run.h"
#include "apps/saltern/loaded_model.h"
#include "apps/saltern/training_model.h"
#include "generators/model/kernel_library.h"
#include "generators/model/model_name.h"
#include "runtime/report/progress.h"

namespace saltern {

namespace {

struct CompileOptions {
  ModelOptions model;
  generators::CompileOptions compile;
  std::string dynamic;
  bool train = false;
  TrainingOptions training;
  std::vector<std::string> kernels;
  int chunk = 8;
  ConvolutionOption convolutions;
  bool json = false, no_cache = false;
};

// The model file's name without its ending, as far as it can stand in a C identifier.
std::string name_from(const std::string &path) {
  std::string name = std::filesystem::path(path).stem().string();
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  const bool can_begin = !name.empty() && std::isalpha(static_cast<unsigned char>(name[0]));
  return can_begin && generators::refusal_of_name(name).empty() ? name : "model_" + name;
}

nlohmann::ordered_json as_json(const std::string &name, const generators::CompiledModel &made, double seconds) {
  return {
      {"name", name},
      {"targets", made.targets},
      {"header", made.header},
      {"library", made.library},
      {"shared_library", made.shared_library},
      {"weights_file", made.weights_file},
      {"main", made.main},
      {"driver", made.driver},
      {"code_bytes", made.code_bytes},
      {"weights_bytes", made.weights_bytes},
      {"workspace_bytes", made.workspace_bytes},
      {"peak_bytes", made.peak_bytes},
      {"kernel_bytes", made.kernel_memory.caller},
      {"kernel_bytes_per_further_thread", made.kernel_memory.task},
      {"kernels", made.kernels},
      {"steps", made.steps},
      {"seconds", seconds},
  };
}

generators::CompiledModel compiled(const CompileOptions &o) {
  const LoadedModel model(o.model);
  if (o.train) {
    TrainingModel trained(model, o.training);
    generators::CompileOptions compile = o.compile;
    compile.memory = static_cast<int64_t>(o.training.memory);
    const auto made = [&] { return compile_training(trained.step(), trained.inference(), compile); };
    return compile.memory > 0 ? on_input(made) : made();
  }
  if (o.dynamic.empty()) return compile_model(model.lowered(), o.compile);
  const Graph many = model.lowered_for_batch(o.dynamic, o.chunk), one = model.lowered_for_batch(o.dynamic, 1);
  return compile_batched_model(many, one, o.compile);
}

int run_kernels(const CompileOptions &o) {
  if (!o.model.path.empty()) throw BadInput("--kernels compiles library kernels, and no model: " + o.model.path);
  if (o.compile.targets.size() > 1) throw BadInput("--kernels compiles for one --target at a time");
  const std::string target = o.compile.targets.empty() ? generators::best_target_here() : o.compile.targets[0];
  const std::string name = o.compile.name.empty() ? "kernels" : o.compile.name;
  const generators::KernelLibrary made = on_input([&] {
    return generators::compile_kernels({name, o.compile.folder, o.kernels, target});
  });
  if (o.json) {
    const nlohmann::ordered_json line = {
        {"name", name},          {"target", target},        {"kernels", o.kernels},
        {"header", made.header}, {"library", made.library}, {"code_bytes", made.code_bytes}};
    std::printf("%s\n", json_text(line).c_str());
    return 0;
  }
  std::printf("%s: %zu kernels for %s, %.0f KB of code\n", name.c_str(), o.kernels.size(), target.c_str(),
              static_cast<double>(made.code_bytes) / 1e3);
  std::printf("    #include \"%s\"\n    cc main.c %s -lm -lpthread -ldl\n", made.header.c_str(), made.library.c_str());
  return 0;
}

int run_compile(CompileOptions o) {
  if (!o.kernels.empty()) return run_kernels(o);
  if (o.model.path.empty()) throw BadInput("a MODEL is required, or --kernels");
  if (o.train && !o.dynamic.empty())
    throw BadInput("--train is for a batch of one size (--batch), and --dynamic for any");
  if (o.compile.name.empty()) o.compile.name = name_from(o.model.path);
  if (o.compile.cache.empty() && !o.no_cache) o.compile.cache = generators::default_cache_folder();
  if (o.no_cache) o.compile.cache.clear();
  o.compile.exact_convolutions = o.convolutions.exact;
  on_input([&] { check(o.compile); });
  const auto begin = std::chrono::steady_clock::now();
  std::optional<Progress> bar;
  if (isatty(STDERR_FILENO))
    o.compile.progress = [&](int done, int all) {
      if (!bar) bar.emplace("kernels", all);
      bar->update(done);
    };
  const generators::CompiledModel made = compiled(o);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (bar) bar->finish(std::to_string(made.kernels));
  const std::string &name = o.compile.name;
  if (o.json) {
    std::printf("%s\n", json_text(as_json(name, made, seconds)).c_str());
    return 0;
  }
  std::printf("%s: %d steps, %d kernels, %.0f KB of code, %.0f KB of weights, %.0f KB of workspace\n", name.c_str(),
              made.steps, made.kernels, made.code_bytes / 1e3, made.weights_bytes / 1e3, made.workspace_bytes / 1e3);
  if (!made.weights_file.empty()) std::printf("    weights: %s\n", made.weights_file.c_str());
  if (made.main.empty())
    std::printf("    #include \"%s\"\n    cc main.c %s -lm -lpthread\n", made.header.c_str(), made.library.c_str());
  else
    std::printf("    cc -O2 %s %s -lm -lpthread -o %s_main\n", made.main.c_str(), made.library.c_str(), name.c_str());
  return 0;
}

}  // namespace

void define_compile(CLI::App &app, Action &chosen) {
  auto o = std::make_shared<CompileOptions>();
  o->model.add_to(app);
  app.get_option("MODEL")->required(false);
  app.add_option("--kernels", o->kernels, "Library kernels instead of a model, for one target, which may be a GPU's");
  app.add_option("-o,--output", o->compile.folder, "The folder for the library and its header")->required();
  app.add_option("--name", o->compile.name, "What all symbols and the files begin with; by default, the file's name");
  app.add_option(
      "--target", o->compile.targets,
      "A CPU target, as `saltern targets` names them; several may be given. With --kernels, a GPU target, too");
  app.add_option("--cache", o->compile.cache, "The folder that keeps compiled kernels; by default, the user's");
  app.add_flag("--no-cache", o->no_cache, "Keep no compiled kernels, and use none");
  app.add_flag("--shared", o->compile.shared, "Make a shared library, too");
  app.add_flag("--main", o->compile.main, "Write NAME_main.c, too: a program that runs the model on files");
  const auto weights = app.add_flag("--weights-file", o->compile.weights_file,
                                    "The weights in NAME.weights, which is mapped when a model is created");
  app.add_flag("--embed-weights", "The weights in the library, which is so unless told otherwise")->excludes(weights);
  app.add_option(
      "--dynamic", o->dynamic,
      "A batch of any size at run time, by NAME_run_batch: the name of the inputs' first dimension, or batch");
  app.add_option("--chunk", o->chunk, "With --dynamic: how many samples kernels are made for, beside one")
      ->check(CLI::Range(2, 4096));
  app.add_flag("--train", o->train,
               "A model that trains: NAME_train_step, NAME_save, NAME_load and NAME_set_rate beside NAME_run");
  o->training.add_to(app);
  o->convolutions.add_to(app);
  app.add_option("--jobs,--threads", o->compile.jobs, "Processes that compile at the same time; by default, one a core")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--json", o->json, "One line of JSON");
  app.callback([o, &app, &chosen] {
    expect_train(app, o->train);
    chosen = [o] { return run_compile(*o); };
  });
}

}  // namespace saltern
