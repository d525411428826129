#include "generators/model/kernel_cache.h"

#include <filesystem>

#include "generators/model/compile.h"
#include "generators/model/kernel_jobs.h"
#include "generators/model/kernel_targets.h"
#include "generators/model/toolchain.h"

namespace saltern::generators {

namespace {

namespace fs = std::filesystem;

const std::string shelf = "kernels", cached_symbol = "saltern_cached_kernel", runtime_object = "halide_runtime.o";

std::string kernel_key(const EmittedKernel &kernel, const std::vector<CpuTarget> &targets) {
  std::string key = kernel.key + (kernel.can_fail ? "\ncan fail" : "\ncannot fail");
  for (const CpuTarget &t : targets) key += " " + t.halide;
  return key + "\n" + program_identity();
}

}  // namespace

bool KernelCache::has(const EmittedKernel &kernel, const std::vector<CpuTarget> &targets) const {
  return cache_.find(shelf, kernel_key(kernel, targets_of(kernel, targets))).has_value();
}

void KernelCache::provide(const EmittedKernel &kernel, const std::vector<CpuTarget> &asked, const std::string &symbol,
                          const std::string &to) const {
  const std::vector<CpuTarget> targets = targets_of(kernel, asked);
  const Cache::Entry kept = cache_.find_or_make(shelf, kernel_key(kernel, targets), [&](const std::string &making) {
    compile_kernel(kernel, cached_symbol, targets, making);
  });
  std::vector<std::string> renaming = {"objcopy"}, names = {""};
  for (const CpuTarget &t : targets) names.push_back("-" + t.name);  // as Halide calls them
  for (const std::string &name : names)
    for (const char *kind : {"", "_argv", "_metadata"})
      // All others become local: bodies of parallel loops have the same names in every kernel.
      renaming.insert(renaming.end(), {"--redefine-sym", cached_symbol + name + kind + "=" + symbol + name + kind,
                                       "--keep-global-symbol=" + symbol + name + kind});
  for (const std::string &file : kept.files) {
    const std::string renamed = to + "/" + symbol + file.substr(cached_symbol.size());
    if (fs::path(file).extension() != ".o") {
      fs::copy_file(kept.path(file), renamed);
      continue;
    }
    std::vector<std::string> command = renaming;
    command.insert(command.end(), {kept.path(file), renamed});
    run_program(command, to);
  }
}

void KernelCache::provide_halide_runtime(const std::string &object) const {
  const std::string key = "Halide run-time support\n" + program_identity();
  const Cache::Entry kept = cache_.find_or_make(
      shelf, key, [](const std::string &making) { compile_halide_runtime(making + "/" + runtime_object); });
  fs::copy_file(kept.path(runtime_object), object, fs::copy_options::overwrite_existing);
}

std::string best_target_here() {
  const Halide::Target here = host_target();
  for (const CpuTarget &t : cpu_targets())
    if (Halide::Target(t.halide) == here) return t.name;
  return cpu_targets().back().name;
}

}  // namespace saltern::generators
