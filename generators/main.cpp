// Compiles one declared kernel for every CPU target: objects that dispatch by CPU feature at run time, and a C header.
//
//   generate_FILE KERNEL DIRECTORY [DATABASE]   writes DIRECTORY/saltern_KERNEL*.o and saltern_KERNEL.h, with the best
//                                               knobs that the tuning database has for the kernel's first timing
//   generate_FILE --runtime OBJECT              writes Halide's run-time support

#include <cstdio>
#include <exception>
#include <string>

#include "autoscheduler/database.h"
#include "generators/kernel.h"
#include "schedules/machine.h"

namespace {

using namespace saltern;
using namespace saltern::generators;

// None without a database.
Knobs tuned_knobs(const Kernel &kernel, const Halide::Target &target, const std::string &database) {
  if (database.empty() || !kernel.typical()) return {};
  for (const CpuTarget &t : cpu_targets())
    if (Halide::Target(t.halide + "-no_runtime") == target)
      if (const auto best = autoscheduler::Database(database).best(kernel.name, *kernel.typical(), t.name))
        return best->knobs;
  return {};
}

void compile(const Kernel &kernel, const std::string &directory, const std::string &database) {
  std::vector<Halide::Target> targets;
  std::vector<std::string> suffixes;
  for (const CpuTarget &t : cpu_targets()) {
    targets.emplace_back(t.halide + "-no_runtime");
    suffixes.push_back(t.name);
  }
  const std::string symbol = "saltern_" + kernel.name, path = directory + "/" + symbol;
  Halide::compile_multitarget(
      symbol, {{Halide::OutputFileType::object, path + ".o"}, {Halide::OutputFileType::c_header, path + ".h"}}, targets,
      suffixes, [&](const std::string &name, const Halide::Target &target) {
        Build b = kernel.build(target, Build::Schedule::own, std::nullopt, tuned_knobs(kernel, target, database));
        return b.pipeline().compile_to_module(b.arguments(), name, target);
      });
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: %s KERNEL DIRECTORY [DATABASE] | --runtime OBJECT\n", argv[0]);
    return 2;
  }
  try {
    if (std::string(argv[1]) == "--runtime")
      Halide::compile_standalone_runtime(argv[2], Halide::Target(cpu_targets().back().halide));
    else
      compile(find_kernel(argv[1]), argv[2], argc == 4 ? argv[3] : "");
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s: %s: %s\n", argv[0], argv[1], e.what());
    return 1;
  } catch (const Halide::Error &e) {
    std::fprintf(stderr, "%s: %s: %s\n", argv[0], argv[1], e.what());
    return 1;
  }
}
