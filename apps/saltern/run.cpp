#include <cstdio>
#include <fstream>
#include <memory>

#include "apps/saltern/command.h"
#include "apps/saltern/compiled_run.h"
#include "apps/saltern/model_data.h"
#include "runtime/file.h"
#include "runtime/operators/lowering.h"
#include "runtime/thread_pool.h"

namespace saltern {

namespace {

struct Options {
  std::string model, inputs, outputs, list;
  int threads = 0;
  bool compiled = false;
};

int run_one(const Options &o, const std::string &path, const std::string &inputs, const std::string &outputs) {
  const Model model = on_input([&] { return load_onnx(path); });
  const HostValues given = on_input([&] { return read_inputs(model, inputs); });
  write_outputs(model, o.compiled ? run_compiled(model, given, threads()) : run_model(model, given), outputs);
  return 0;
}

int run(const Options &o) {
  if (o.threads > 0) set_threads(o.threads);
  return run_one(o, o.model, o.inputs, o.outputs);
}

void write_text(const std::string &path, const std::string &text) {
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

// Every line is done whatever the others did: what went wrong stands beside its outputs.
int run_batch(const Options &o) {
  if (o.threads > 0) set_threads(o.threads);
  std::ifstream list(o.list);
  if (!list) throw BadInput("cannot read " + o.list);
  for (std::string line; std::getline(list, line);) {
    const size_t first = line.find('\t'), second = first == std::string::npos ? first : line.find('\t', first + 1);
    if (line.empty()) continue;
    if (second == std::string::npos)
      throw BadInput(o.list + ": '" + line + "' is not MODEL, INPUTS and OUTPUTS between tabs");
    const std::string outputs = line.substr(second + 1);
    std::string message;
    const int code = exit_code_of(
        [&] { return run_one(o, line.substr(0, first), line.substr(first + 1, second - first - 1), outputs); },
        message);
    if (!message.empty()) write_text(outputs + "/log", message + "\n");
    write_text(outputs + "/STATUS", std::to_string(code) + "\n");
  }
  return 0;
}

}  // namespace

void define_run(CLI::App &app, Action &chosen) {
  auto o = std::make_shared<Options>();
  app.add_option("MODEL", o->model, "An ONNX file")->required();
  app.add_option("--inputs", o->inputs, "A folder of input_0.pb, input_1.pb, ...")->required();
  app.add_option("--outputs", o->outputs, "The folder for output_0.pb, output_1.pb, ...; made if need be")->required();
  app.add_option("--threads", o->threads, "Threads to run on; by default, one a core")->check(CLI::Range(1, 256));
  app.add_flag("--compiled", o->compiled,
               "Compile the model for the shapes of its inputs first, or take it from the cache");
  app.callback([o, &chosen] { chosen = [o] { return run(*o); }; });
}

void define_run_batch(CLI::App &app, Action &chosen) {
  auto o = std::make_shared<Options>();
  app.add_option("LIST", o->list, "A file of lines MODEL, INPUTS, OUTPUTS with tabs between; each gets OUTPUTS/STATUS")
      ->required();
  app.add_option("--threads", o->threads, "Threads to run on; by default, one a core")->check(CLI::Range(1, 256));
  app.add_flag("--compiled", o->compiled,
               "Compile the model for the shapes of its inputs first, or take it from the cache");
  app.callback([o, &chosen] { chosen = [o] { return run_batch(*o); }; });
}

}  // namespace saltern
