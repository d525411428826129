#pragma once
// The commands of the program: one file each, one row each in main.cpp.
//
// Exit codes: 0 good, 1 a wrong result or a failed check, 2 bad usage or input (files and folders that cannot be read
// or written among it), 3 unsupported.

#include <functional>

#include "runtime/error.h"

namespace CLI {
class App;
}

namespace saltern {

// What the user asked for, run after the whole command line is known to be right; returns the exit code.
using Action = std::function<int()>;

struct Command {
  const char *name, *summary;
  // Adds the command's options and, when it is parsed, sets `chosen`.
  void (*define)(CLI::App &app, Action &chosen);
  bool hidden = false;
};

// Something that the user gave is wrong: a value, a file. Exit code 2.
class BadInput : public Error {
 public:
  using Error::Error;
};

// Does what only fails where the user's input is wrong, or is not supported. Other exceptions, such as lack of memory,
// stay what they are.
template <typename Work>
auto on_input(const Work &work) {
  try {
    return work();
  } catch (const Unsupported &) {
    throw;
  } catch (const Error &e) {
    throw BadInput(e.what());
  }
}

// Runs an action; what it throws becomes its exit code and a message.
int exit_code_of(const Action &action, std::string &message);

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
