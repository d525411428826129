#pragma once
// The frame of a program: its command line is read, and what goes wrong becomes a message and an exit code, as README.md has
// them: 0 good, 1 a failed check, 2 bad usage or input, 3 what is not supported.

#include <CLI/CLI.hpp>
#include <iostream>

#include "apps/saltern/command.h"

namespace saltern {

// `app` has a name; its subcommands set `chosen`, or it stands there already.
inline int run_program(CLI::App &app, int argc, char **argv, const Action &chosen) {
  const auto ended = [&](const std::exception &e, int code) {
    std::cerr << app.get_name() << ": " << e.what() << "\n";
    return code;
  };
  try {
    app.parse(argc, argv);
    return chosen();
  } catch (const CLI::ParseError &e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const BadInput &e) {
    return ended(e, 2);
  } catch (const FileError &e) {
    return ended(e, 2);
  } catch (const Unsupported &e) {
    return ended(e, 3);
  } catch (const std::exception &e) {
    return ended(e, 1);
  }
}

}  // namespace saltern
