#include "generators/model/kernel_cache.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "generators/model/compile.h"
#include "generators/model/kernel_jobs.h"
#include "generators/model/toolchain.h"
#include "runtime/graph/text.h"
#include "runtime/hash.h"
#include "runtime/version.h"

namespace saltern::generators {

namespace {

namespace fs = std::filesystem;

constexpr const char *cached_symbol = "saltern_cached_kernel";

// Another build of this program may compile the same key to other code.
std::string program_identity() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return version();
  const auto written = fs::last_write_time(self, error).time_since_epoch().count();
  return std::string(version()) + " " + std::to_string(fs::file_size(self, error)) + " " + std::to_string(written);
}

std::string in_full(const std::string &what) { return what + "\n" + program_identity(); }

std::string contents(const fs::path &path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

void write_text(const fs::path &path, const std::string &text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) fail("cannot write ", path.string());
}

}  // namespace

// Programs of the tool chain run in other folders.
KernelCache::KernelCache(const std::string &folder) : folder_(fs::absolute(folder).string()) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw FileError("cannot make the folder " + folder_ + ": " + error.message());
}

std::string KernelCache::entry(const std::string &key) const {
  const std::string hash = content_hash(key);
  return folder_ + "/" + hash.substr(0, 2) + "/" + hash.substr(2);
}

template <typename Compile>
std::string KernelCache::find_or_make(const std::string &what, const Compile &compile) const {
  const std::string key = in_full(what), place = entry(key);
  if (contents(place + "/key") == key) return place;
  std::error_code error;
  fs::create_directories(fs::path(place).parent_path(), error);
  const std::string making = place + ".making." + std::to_string(getpid());
  fs::remove_all(making, error);
  fs::create_directory(making, error);
  if (error) fail("cannot make the folder ", making, ": ", error.message());
  try {
    compile(making);
    write_text(making + "/key", key);
  } catch (...) {
    fs::remove_all(making, error);
    throw;
  }
  // Whoever comes first wins; the other's is the same.
  fs::rename(making, place, error);
  if (error) {
    if (contents(place + "/key") != key) {  // an entry of another key, or half of one
      fs::remove_all(place, error);
      fs::rename(making, place, error);
    } else {
      fs::remove_all(making, error);
    }
  }
  if (contents(place + "/key") != key) fail("cannot write ", place);
  return place;
}

namespace {

std::string kernel_key(const EmittedKernel &kernel, const std::vector<CpuTarget> &targets) {
  std::string key = kernel.key + (kernel.can_fail ? "\ncan fail" : "\ncannot fail");
  for (const CpuTarget &t : targets) key += " " + t.halide;
  return key;
}

}  // namespace

bool KernelCache::has(const EmittedKernel &kernel, const std::vector<CpuTarget> &targets) const {
  const std::string key = in_full(kernel_key(kernel, targets));
  return contents(entry(key) + "/key") == key;
}

void KernelCache::provide(const EmittedKernel &kernel, const std::vector<CpuTarget> &targets, const std::string &symbol,
                          const std::string &to) const {
  const std::string place = find_or_make(kernel_key(kernel, targets), [&](const std::string &making) {
    compile_kernel(kernel, cached_symbol, targets, making);
  });
  std::vector<std::string> names = {""};
  for (const CpuTarget &t : targets) names.push_back("-" + t.name);  // as Halide calls them
  for (const fs::directory_entry &e : fs::directory_iterator(place)) {
    if (e.path().extension() != ".o") continue;
    std::vector<std::string> command = {"objcopy"};
    for (const std::string &name : names)
      for (const char *kind : {"", "_argv", "_metadata"})
        // All others become local: bodies of parallel loops have the same names in every kernel.
        command.insert(command.end(), {"--redefine-sym", cached_symbol + name + kind + "=" + symbol + name + kind,
                                       "--keep-global-symbol=" + symbol + name + kind});
    const std::string file = e.path().filename().string();
    command.push_back(e.path().string());
    command.push_back(to + "/" + symbol + file.substr(std::string(cached_symbol).size()));
    run_program(command, to);
  }
  fs::copy_file(place + "/" + cached_symbol + ".memory", to + "/" + symbol + ".memory");
}

void KernelCache::provide_halide_runtime(const std::string &object) const {
  const std::string place = find_or_make("Halide run-time support", [](const std::string &making) {
    compile_halide_runtime(making + "/halide_runtime.o");
  });
  fs::copy_file(place + "/halide_runtime.o", object, fs::copy_options::overwrite_existing);
}

std::string model_folder(const Graph &graph, const std::string &cache) {
  std::string content = program_identity() + "\n" + to_text(graph);
  for (const auto &[name, v] : graph.values) {
    if (!v.constant.defined()) continue;
    const Tensor t = v.constant.in_layout(Layout::row_major);
    content.append(static_cast<const char *>(t.raw()), t.bytes());
  }
  return cache + "/models/" + content_hash(content);
}

std::string best_target_here() {
  const Halide::Target here = host_target();
  for (const CpuTarget &t : cpu_targets())
    if (Halide::Target(t.halide) == here) return t.name;
  return cpu_targets().back().name;
}

std::string default_cache_folder() {
  const auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (const std::string own = variable("SALTERN_CACHE"); !own.empty()) return own;
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache + "/saltern";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.cache/saltern";
  return (fs::temp_directory_path() / "saltern-cache").string();
}

}  // namespace saltern::generators
