#include "generators/model/compile.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/saltern/command.h"
#include "apps/saltern/model_options.h"

namespace saltern {

namespace {

struct Options {
  ModelOptions model;
  generators::CompileOptions compile;
  bool json = false, no_cache = false;
};

// The model file's name without its ending, as far as it can stand in a C identifier.
std::string name_from(const std::string &path) {
  std::string name = std::filesystem::path(path).stem().string();
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name.empty() || !std::isalpha(static_cast<unsigned char>(name[0])) ? "model_" + name : name;
}

int run(Options o) {
  if (o.compile.name.empty()) o.compile.name = name_from(o.model.path);
  if (o.compile.cache.empty() && !o.no_cache) o.compile.cache = generators::default_cache_folder();
  if (o.no_cache) o.compile.cache.clear();
  on_input([&] { check(o.compile); });
  const Graph graph = o.model.graph();
  const generators::CompiledModel made = generators::compile_model(graph, o.compile);
  if (o.json) {
    const nlohmann::ordered_json row = {
        {"library", made.library},
        {"header", made.header},
        {"shared_library", made.shared_library},
        {"code_bytes", made.code_bytes},
        {"weights_bytes", made.weights_bytes},
        {"kernels", made.kernels},
        {"steps", made.steps},
        {"workspace_bytes", made.workspace_bytes},
    };
    std::printf("%s\n", row.dump().c_str());
    return 0;
  }
  std::printf("%s: %d steps, %d kernels, %.0f KB of code, %.0f KB of weights, %.0f KB of workspace\n",
              o.compile.name.c_str(), made.steps, made.kernels, made.code_bytes / 1e3, made.weights_bytes / 1e3,
              made.workspace_bytes / 1e3);
  std::printf("    #include \"%s\"\n    cc main.c %s -lm -lpthread -ldl\n", made.header.c_str(), made.library.c_str());
  return 0;
}

}  // namespace

void define_compile(CLI::App &app, Action &chosen) {
  auto o = std::make_shared<Options>();
  o->model.add_to(app);
  app.add_option("-o,--output", o->compile.folder, "The folder for the library and its header")->required();
  app.add_option("--name", o->compile.name, "What all symbols and the files begin with; by default, the file's name");
  app.add_option("--target", o->compile.targets, "A CPU target, as `saltern targets` names them; several may be given");
  app.add_option("--cache", o->compile.cache, "The folder that keeps compiled kernels; by default, the user's");
  app.add_flag("--no-cache", o->no_cache, "Keep no compiled kernels, and use none");
  app.add_flag("--shared", o->compile.shared, "Make a shared library, too");
  app.add_option("--jobs", o->compile.jobs, "Processes that compile at the same time; by default, one a core")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--json", o->json, "One line of JSON");
  app.callback([o, &chosen] { chosen = [o] { return run(*o); }; });
}

}  // namespace saltern
