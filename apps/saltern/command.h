#pragma once
// The commands of the program: one file each, one row each in main.cpp.

#include "apps/exit_codes.h"

namespace CLI {
class App;
}

namespace saltern {

struct Command {
  const char *name, *summary;
  // Adds the command's options and, when it is parsed, sets `chosen`.
  void (*define)(CLI::App &app, Action &chosen);
  bool hidden = false;
};

void define_info(CLI::App &app, Action &chosen);
void define_targets(CLI::App &app, Action &chosen);
void define_coverage(CLI::App &app, Action &chosen);
void define_bench(CLI::App &app, Action &chosen);
void define_train(CLI::App &app, Action &chosen);
void define_tune(CLI::App &app, Action &chosen);
void define_compile(CLI::App &app, Action &chosen);
void define_convert(CLI::App &app, Action &chosen);
void define_verify(CLI::App &app, Action &chosen);
void define_gradients(CLI::App &app, Action &chosen);
void define_run(CLI::App &app, Action &chosen);
void define_run_batch(CLI::App &app, Action &chosen);
// What `tune` runs in child processes.
void define_measure_candidate(CLI::App &app, Action &chosen);

}  // namespace saltern
