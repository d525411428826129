#include "generators/model/compile.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/saltern/command.h"
#include "runtime/graph/model_file.h"

namespace saltern {

namespace {

struct Options {
  std::string model;
  generators::CompileOptions compile;
  bool json = false;
};

// The model file's name without its ending, as far as it can stand in a C identifier.
std::string name_from(const std::string &path) {
  std::string name = std::filesystem::path(path).stem().string();
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name.empty() || !std::isalpha(static_cast<unsigned char>(name[0])) ? "model_" + name : name;
}

int run(Options o) {
  if (o.compile.name.empty()) o.compile.name = name_from(o.model);
  on_input([&] { check(o.compile); });
  const Graph graph = on_input([&] { return load_model(o.model); });
  const generators::CompiledModel made = generators::compile_model(graph, o.compile);
  if (o.json) {
    const nlohmann::ordered_json row = {
        {"library", made.library},
        {"header", made.header},
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
  app.add_option("MODEL", o->model, "A model file: a net that was traced and saved")->required();
  app.add_option("-o,--output", o->compile.folder, "The folder for the library and its header")->required();
  app.add_option("--name", o->compile.name, "What all symbols and the files begin with; by default, the file's name");
  app.add_option("--target", o->compile.targets, "A CPU target, as `saltern targets` names them; several may be given");
  app.add_option("--jobs", o->compile.jobs, "Processes that compile at the same time; by default, one a core")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--json", o->json, "One line of JSON");
  app.callback([o, &chosen] { chosen = [o] { return run(*o); }; });
}

}  // namespace saltern
