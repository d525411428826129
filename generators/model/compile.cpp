#include "generators/model/compile.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "generators/model/driver.h"
#include "generators/model/kernel_cache.h"
#include "generators/model/kernel_jobs.h"
#include "generators/model/lower.h"
#include "generators/model/passes/passes.h"
#include "generators/model/toolchain.h"
#include "runtime/file.h"

namespace saltern::generators {

namespace {

namespace fs = std::filesystem;

std::vector<CpuTarget> chosen_targets(const std::vector<std::string> &names) {
  std::vector<CpuTarget> chosen;
  std::string known;
  for (const CpuTarget &t : cpu_targets()) {
    if (names.empty() || std::find(names.begin(), names.end(), t.name) != names.end()) chosen.push_back(t);
    known += (known.empty() ? "" : ", ") + t.name;
  }
  for (const std::string &name : names)
    if (std::none_of(chosen.begin(), chosen.end(), [&](const CpuTarget &t) { return t.name == name; }))
      fail("there is no CPU target '", name, "'; expected one of ", known);
  return chosen;
}

void write_file(const std::string &path, const void *data, size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char *>(data), static_cast<std::streamsize>(bytes));
  out.close();
  if (!out) fail("cannot write ", path);
}

void write_file(const std::string &path, const std::string &text) { write_file(path, text.data(), text.size()); }

// Puts a finished file in its place: whoever looks finds the old one or the new one.
std::string put(const std::string &from, const std::string &folder, const std::string &name) {
  const std::string path = folder + "/" + name;
  const std::vector<uint8_t> bytes = read_file(from, fs::file_size(from));
  AtomicFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit();
  return path;
}

// All objects in a folder, in the order of their names.
std::vector<std::string> objects_in(const std::string &folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry &e : fs::directory_iterator(folder))
    if (e.path().extension() == ".o") names.push_back(e.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void compile_objects(const Lowered &model, const std::vector<CpuTarget> &targets, const CompileOptions &options,
                     const std::string &folder) {
  const TemporaryFolder forgotten;
  const KernelCache cache(options.cache.empty() ? forgotten.path() : options.cache);
  std::vector<std::function<void()>> jobs;
  jobs.emplace_back([&] { cache.provide_halide_runtime(folder + "/" + options.name + "_halide_runtime.o"); });
  for (size_t k = 0; k < model.kernels.size(); ++k)
    jobs.emplace_back(
        [&, k] { cache.provide(model.kernels[k], targets, options.name + "_kernel_" + std::to_string(k), folder); });
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  run_in_processes(jobs, options.jobs > 0 ? options.jobs : cores, options.progress);
}

}  // namespace

void check(const CompileOptions &options) {
  check_model_name(options.name);
  chosen_targets(options.targets);
}

CompiledModel compile_model(const Graph &graph, const CompileOptions &options) {
  check(options);
  const std::vector<CpuTarget> targets = chosen_targets(options.targets);
  validate(graph);
  const Graph prepared = prepared_for_inference(graph);
  const Lowered model = lower(prepared);
  const Plan &plan = model.plan;

  std::error_code error;
  fs::create_directories(options.folder, error);
  if (error) fail("cannot make the folder ", options.folder, ": ", error.message());

  const TemporaryFolder work;
  const std::string name = options.name, library = "lib" + name + ".a", header = name + ".h";
  write_file(work.file(header), header_text(plan, name));
  write_file(work.file(name + "_driver.c"),
             driver_text(plan, name, {targets.back().name, feature_words(targets.back())}));
  write_file(work.file("weights.bin"), plan.weights.data(), plan.weights.size());
  write_file(work.file(name + "_weights.s"), weights_text(name, "weights.bin"));
  // The tool chain first: where it is missing, that is said before anything takes long.
  run_program({c_compiler(), "-std=gnu99", "-O2", "-fPIC", "-Wall", "-Wextra", "-c", name + "_driver.c"}, work.path());
  run_program({c_compiler(), "-c", name + "_weights.s"}, work.path());
  compile_objects(model, targets, options, work.path());

  std::vector<std::string> archive = {archiver(), "rcsD", library};
  for (const std::string &object : objects_in(work.path())) archive.push_back(object);
  run_program(archive, work.path());

  CompiledModel made;
  made.weights_bytes = static_cast<int64_t>(plan.weights.size());
  made.code_bytes = static_cast<int64_t>(fs::file_size(work.file(library))) - made.weights_bytes;
  made.workspace_bytes = plan.workspace_bytes;
  made.steps = static_cast<int>(plan.steps.size());
  made.kernels = plan.kernels;
  made.library = put(work.file(library), options.folder, library);
  if (options.shared) {
    const std::string so = "lib" + name + ".so";
    run_program({c_compiler(), "-shared", "-o", so, "-Wl,-Bsymbolic", "-Wl,--whole-archive", library,
                 "-Wl,--no-whole-archive", "-lm", "-lpthread", "-ldl"},
                work.path());
    made.shared_library = put(work.file(so), options.folder, so);
  }
  made.header = put(work.file(header), options.folder, header);
  return made;
}

}  // namespace saltern::generators
