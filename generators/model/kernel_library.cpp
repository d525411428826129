#include "generators/model/kernel_library.h"

#include <filesystem>
#include <set>
#include <thread>

#include "generators/just_in_time.h"
#include "generators/kernel.h"
#include "generators/model/driver.h"
#include "generators/model/driver_source.h"
#include "generators/model/kernel_jobs.h"
#include "generators/model/model_name.h"
#include "generators/model/toolchain.h"
#include "generators/targets.h"
#include "runtime/files/file.h"

namespace saltern::generators {

namespace {

Halide::Target target_named(const std::string &name) {
  std::string known;
  for (const TargetFacts &t : all_targets()) {
    if (t.name == name) return Halide::Target(t.halide);
    known += (known.empty() ? "" : ", ") + t.name;
  }
  fail("there is no target '", name, "'; expected one of ", known);
}

std::string type_text(const Halide::Type &t) {
  return (t.is_float() ? "f" : t.is_uint() ? "u" : "i") + std::to_string(t.bits());
}

// int NAME_dense(halide_buffer_t *x, ...);
std::string declaration(const std::string &symbol, const Build &b) {
  std::string facts, arguments;
  const auto add = [&](const std::string &name, const Halide::Type &type, int rank) {
    const std::string separator = arguments.empty() ? "" : ", ";
    if (rank > 0) facts += separator + name + ": " + type_text(type) + ", rank " + std::to_string(rank);
    arguments += separator + (rank > 0 ? "halide_buffer_t *" : type.is_float() ? "float " : "int32_t ") + name;
  };
  for (const InputFacts &in : b.inputs()) add(in.name, in.type, in.rank);
  const std::vector<Halide::Type> types = b.output_types();
  for (size_t i = 0; i < types.size(); ++i) add(b.output_names()[i], types[i], b.output_ranks()[i]);
  return "/* " + facts + " */\nint " + symbol + "(" + arguments + ");\n";
}

}  // namespace

KernelLibrary compile_kernels(const KernelLibraryOptions &options) {
  check_model_name(options.name);
  const Halide::Target target = target_named(options.target).with_feature(Halide::Target::NoRuntime);
  const TemporaryFolder work;
  const auto symbol_of = [&](const std::string &kernel) { return options.name + "_" + kernel; };
  std::vector<std::function<void()>> jobs = {[&] {
    Halide::compile_standalone_runtime(work.file(options.name + "_halide_runtime.o"),
                                       target.without_feature(Halide::Target::NoRuntime));
  }};
  std::string declarations;
  for (const std::string &kernel : std::set<std::string>(options.kernels.begin(), options.kernels.end())) {
    if (!is_declared(kernel)) fail("there is no kernel '", kernel, "'; `saltern targets --kernels` has them all");
    const Build facts = find_kernel(kernel).build(target, Build::Schedule::own);
    if (const std::string why = target.has_gpu_feature() ? facts.why_no_gpu() : ""; !why.empty())
      unsupported("the kernel ", kernel, " cannot be compiled for ", options.target, ": ", why);
    declarations += declaration(symbol_of(kernel), facts);
    jobs.emplace_back([&, kernel] {
      const Build b = find_kernel(kernel).build(target, Build::Schedule::own);
      const std::string symbol = symbol_of(kernel);
      b.pipeline().compile_to_object(work.file(symbol + ".o"), b.arguments(), symbol, target);
    });
  }
  run_in_processes(jobs, static_cast<int>(std::max(1u, std::thread::hardware_concurrency())), nullptr);
  const std::string library = "lib" + options.name + ".a", header = options.name + ".h";
  archive_objects(library, work.path());
  make_folder(options.folder);
  KernelLibrary made;
  made.code_bytes = static_cast<int64_t>(std::filesystem::file_size(work.file(library)));
  made.library = put(work.file(library), options.folder, library);
  made.header = options.folder + "/" + header;
  write_atomically(made.header, driver_source("NAME_kernels.h", {options.name, declarations, {}, {}}));
  return made;
}

}  // namespace saltern::generators
