// saltern: the command-line program.

#include <CLI/CLI.hpp>
#include <cstdio>

#include "apps/saltern/command.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/onnx/load_plugin.h"
#include "runtime/version.h"

namespace {

using namespace saltern;

const Command commands[] = {
    {"info", "What this machine and this program have, or what a file holds", define_info},
    {"targets", "What kernels can be compiled for", define_targets},
    {"coverage", "Which names of other frameworks are here, and what each has", define_coverage},
    {"bench", "Time a model or a kernel and say how near it comes to this core's peak", define_bench},
    {"tune", "Search a kernel's schedule for one shape and keep the best", define_tune},
    {"train", "Train layers by name, or a model, as options or a text with them say", define_train},
    {"compile", "Make a static library with a C header of a model", define_compile},
    {"verify", "Compare a model's results: expected, library kernels, compiled kernels, plain formulas", define_verify},
    {"gradients", "Compare a model's gradients with finite differences", define_gradients},
    {"convert", "Write a model as ONNX, optimised", define_convert},
    {"run", "Run a model on inputs from files", define_run},
    {"run-batch", "Run many models, each on its inputs", define_run_batch},
    {"measure-candidate", "Time one candidate schedule", define_measure_candidate, true},
};

}  // namespace

int main(int argc, char **argv) {
  CLI::App app("Saltern: neural networks as linkable kernels.", "saltern");
  app.set_version_flag("--version", saltern::version());
  app.require_subcommand(1);
  app.failure_message([](const CLI::App *a, const CLI::Error &e) {
    const auto unknown = a->remaining(true);
    const std::string what = unknown.empty() ? e.what() : "'" + unknown.front() + "' is no command or option here";
    return "saltern: " + what + "\nsaltern: try --help\n";
  });
  std::vector<std::string> plugins;
  app.add_option("--plugin", plugins, "A shared library with operators of its own; may be given more than once")
      ->allow_extra_args(false)
      ->delimiter(':')
      ->envname("SALTERN_PLUGINS");
  std::string message;
  const int code = exit_code_of(
      [&] {
        Action chosen;
        for (const Command &c : commands) {
          CLI::App *sub = app.add_subcommand(c.name, c.summary);
          if (c.hidden) sub->group("");
          sub->fallthrough();  // --plugin may stand behind the command too
          c.define(*sub, chosen);
        }
        try {
          app.parse(argc, argv);
        } catch (const CLI::ParseError &e) {
          const int exit = app.exit(e);  // 0 for --help and --version
          std::cout.flush();
          return exit == 0 && std::cout ? 0 : exit == 0 ? failed : bad_usage;
        }
        on_input([] { return threads(); });  // SALTERN_THREADS is input, too
        for (const std::string &p : plugins) on_input([&] { return load_plugin(p); });
        return chosen();
      },
      message);
  if (!message.empty()) std::fprintf(stderr, "saltern: %s\n", message.c_str());
  return code;
}
