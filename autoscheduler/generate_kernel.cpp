// Compiles one declared kernel for every CPU target, each with a schedule of its own; the registry chooses by CPU. A
// declaration without a schedule gets one from Halide's autoscheduler.
//
//   generate_FILE KERNEL DIRECTORY [DATABASE]   writes DIRECTORY/saltern_KERNEL_TARGET.o, with the best knobs that the
//                                               tuning database has for the kernel's first timing
//   generate_FILE --runtime OBJECT              writes Halide's run-time support

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "autoscheduler/database.h"
#include "autoscheduler/halide_autoscheduler.h"
#include "generators/kernel.h"
#include "schedules/machine.h"

namespace {

using namespace saltern;
using namespace saltern::generators;

// None without a database.
Knobs tuned_knobs(const Kernel &kernel, const CpuTarget &target, const std::string &database) {
  if (database.empty() || !kernel.typical()) return {};
  const auto best = autoscheduler::Database(database).best(kernel.name, *kernel.typical(), target.name);
  return best ? best->knobs : Knobs{};
}

void compile(const Kernel &kernel, const std::string &directory, const std::string &database) {
  for (const CpuTarget &t : cpu_targets()) {
    const Halide::Target target(t.halide + "-no_runtime");
    const std::string symbol = "saltern_" + kernel.name + "_" + t.name;
    const Build b = kernel.build(target, Build::Schedule::own, std::nullopt, tuned_knobs(kernel, t, database));
    if (!b.is_scheduled()) autoscheduler::schedule_by_halide(b.pipeline(), target);
    b.pipeline().compile_to({{Halide::OutputFileType::object, directory + "/" + symbol + ".o"}}, b.arguments(), symbol,
                            target);
  }
}

// Innermost loops begin with a line of the cache. Else where the linker puts a kernel decides how fast it is: on an AMD
// Zen 4, SSE4.1 loops of one and the same code differed by 1.08 (dense), 1.15 (rms_norm) and 1.67 (square).
void align_loops() { setenv("HL_LLVM_ARGS", "-x86-experimental-pref-innermost-loop-alignment=6", /*overwrite=*/0); }

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: %s KERNEL DIRECTORY [DATABASE] | --runtime OBJECT\n", argv[0]);
    return 2;
  }
  align_loops();
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
