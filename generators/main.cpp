// Compiles one declared kernel for every CPU target: objects that dispatch by CPU feature at run time, and a C header.
//
//   generate_FILE KERNEL DIRECTORY     writes DIRECTORY/saltern_KERNEL*.o and saltern_KERNEL.h
//   generate_FILE --runtime OBJECT     writes Halide's run-time support

#include <cstdio>
#include <exception>
#include <string>

#include "generators/kernel.h"
#include "schedules/machine.h"

namespace {

using namespace saltern;
using namespace saltern::generators;

void compile(const Kernel &kernel, const std::string &directory) {
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
        Build b = kernel.build(target, Build::Schedule::own);
        return b.pipeline().compile_to_module(b.arguments(), name, target);
      });
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s KERNEL DIRECTORY | --runtime OBJECT\n", argv[0]);
    return 2;
  }
  try {
    if (std::string(argv[1]) == "--runtime")
      Halide::compile_standalone_runtime(argv[2], Halide::Target(cpu_targets().back().halide));
    else
      compile(find_kernel(argv[1]), argv[2]);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s: %s: %s\n", argv[0], argv[1], e.what());
    return 1;
  } catch (const Halide::Error &e) {
    std::fprintf(stderr, "%s: %s: %s\n", argv[0], argv[1], e.what());
    return 1;
  }
}
