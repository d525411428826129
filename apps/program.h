#pragma once
// The frame of a program: its command line is read, and what goes wrong becomes a message and an exit code (exit_codes.h).

#include <CLI/CLI.hpp>
#include <iostream>

#include "apps/exit_codes.h"

namespace saltern {

// Reads the command line and does what it asks for; gives the exit code.
inline int run_program(CLI::App &app, int argc, char **argv, const Action &action) {
  std::string message;
  const int code = exit_code_of(
      [&] {
        try {
          app.parse(argc, argv);
        } catch (const CLI::ParseError &e) {
          return app.exit(e) == 0 ? 0 : bad_usage;
        }
        return action();
      },
      message);
  if (!message.empty()) std::cerr << app.get_name() << ": " << message << "\n";
  return code;
}

}  // namespace saltern
