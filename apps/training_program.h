#pragma once
// What programs that train a net have in common: their options, and how they begin and end.
//
//   ProgramOptions o = {/*output=*/"autoencoder", /*epochs=*/5, /*batch=*/64, /*rate=*/1e-3};
//   o.add_to(app);
//   return run_program(app, argc, argv, [&] { ... o.begin(); ... o.end(facts); return 0; });

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "apps/json_text.h"
#include "apps/program.h"
#include "runtime/data/batches.h"
#include "runtime/files/file.h"
#include "runtime/kernels/thread_pool.h"

namespace saltern {

inline void make_folder(const std::string &folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw BadInput("cannot make the folder " + folder + ": " + error.message());
}

struct ProgramOptions {
  std::string output;
  int64_t epochs, batch;  // no epochs: the program has none
  double rate;
  uint64_t seed = 1;
  int threads = 0;
  bool json = false;

  void add_to(CLI::App &app) {
    app.add_option("-o,--output", output, "Folder to write to")->capture_default_str();
    if (epochs > 0)
      app.add_option("--epochs", epochs, "Times to go through the data")
          ->check(CLI::Range(1, 100000))
          ->capture_default_str();
    app.add_option("--batch", batch, "Samples a step")->check(CLI::Range(1, 10000))->capture_default_str();
    app.add_option("--rate", rate, "Learning rate at the start")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--seed", seed, "Same seed, same bits")->capture_default_str();
    app.add_option("--threads", threads, "Threads; else SALTERN_THREADS, else all cores")->check(CLI::Range(1, 256));
    app.add_flag("--json", json, "Only a line of JSON, in the end");
  }

  BatchOptions shuffled() const {
    BatchOptions options;
    options.size = batch;
    options.seed = seed;
    return options;
  }
  // For what is only asked about.
  static BatchOptions in_order() {
    BatchOptions options;
    options.size = 250;
    options.shuffle = false;
    return options;
  }

  // What training that is resumed has to have in common with what it goes on from.
  std::map<std::string, std::string> conditions() const {
    char exact[32];
    std::snprintf(exact, sizeof exact, "%.17g", rate);
    return {{"epochs", std::to_string(epochs)},
            {"batch", std::to_string(batch)},
            {"rate", exact},
            {"seed", std::to_string(seed)}};
  }

  std::string file(const std::string &name) const { return output + "/" + name; }

  // Makes the folder, and finds out whether it can be written to now, not when training is done.
  void begin() const {
    if (!std::isfinite(rate)) throw BadInput("--rate: expected a finite number");
    if (threads > 0) set_threads(threads);
    on_input([] { return saltern::threads(); });  // SALTERN_THREADS is input, too
    make_folder(output);
    AtomicFile(file("training.json"));  // which nobody commits
  }
  // What came out, as a file and as one line.
  void end(const nlohmann::json &facts) const {
    write_atomically(file("training.json"), json_text(facts, 2) + "\n");
    std::cout << json_text(facts) << "\n";
  }
};

}  // namespace saltern
