#include "generators/model/compile.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <thread>

#include "generators/model/driver.h"
#include "generators/model/emit.h"
#include "generators/model/kernel_cache.h"
#include "generators/model/kernel_jobs.h"
#include "generators/model/kernel_memory.h"
#include "generators/model/kernel_targets.h"
#include "generators/model/memory_budget.h"
#include "generators/model/model_name.h"
#include "generators/model/passes/passes.h"
#include "generators/model/planned_model.h"
#include "generators/model/samples.h"
#include "generators/model/toolchain.h"
#include "runtime/files/file.h"

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

// Returns what the kernels take from the heap.
KernelMemory compile_objects(const PlannedModel &model, const std::vector<CpuTarget> &targets,
                             const CompileOptions &options, const std::string &folder) {
  const KernelCache cache(options.cache);
  std::vector<std::function<void()>> jobs;
  jobs.emplace_back([&] { cache.provide_halide_runtime(folder + "/" + options.name + "_halide_runtime.o"); });
  for (size_t k = 0; k < model.kernels.size(); ++k) {
    const auto provide = [&, k] {
      cache.provide(model.kernels[k], targets, options.name + "_kernel_" + std::to_string(k), folder);
    };
    // What is there already is not worth a process.
    if (cache.has(model.kernels[k], targets))
      provide();
    else
      jobs.emplace_back(provide);
  }
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  run_in_processes(jobs, options.jobs > 0 ? options.jobs : cores, options.progress);
  const auto memory_of = [&](int kernel) {
    return read_kernel_memory(folder + "/" + options.name + "_kernel_" + std::to_string(kernel) + ".memory");
  };
  KernelMemory memory;
  for (int k = 0; k < model.plan.kernels; ++k) memory = most(memory, memory_of(k));
  // A lane runs on any thread, which calls its kernels.
  for (const Variant &v : model.plan.variants)
    for (size_t s = 0; s < v.steps.size();) {
      const int lanes = v.steps[s].lanes;
      for (int l = 0; l < lanes; ++l)
        for (const size_t end = s + static_cast<size_t>(v.steps[s].length); s < end; ++s)
          if (lanes > 1) memory = most(memory, {0, memory_of(v.steps[s].kernel).caller});
    }
  return memory;
}

}  // namespace

namespace {

// Handles have a head, whose size is the C compiler's to say: more than that.
constexpr int64_t most_head_bytes = 16384;

// What a variant takes at run time beside the workspace.
int64_t other_bytes(const Variant &v, const KernelMemory &kernels, int threads) {
  int64_t bytes = most_head_bytes + kernels.caller + (threads - 1) * kernels.task;
  for (const auto *edges : {&v.inputs, &v.state})
    for (const Edge &e : *edges) bytes += elements(e.shape) * facts(e.type).bytes();
  return bytes;
}

// Makes a training step, the first of these, fit into options.memory. What kernels take is known when they are compiled,
// which the cache makes quick from the second time on.
void fit_into_memory(std::vector<Graph> &variants, const std::vector<CpuTarget> &targets,
                     const CompileOptions &options) {
  constexpr int most_times = 4;
  const Graph step = variants[0];
  int64_t needed = 0;
  for (int i = 0; i < most_times; ++i) {
    const PlannedModel model = planned(variants, options.state_outside);
    const TemporaryFolder work;
    const KernelMemory kernels = compile_objects(model, targets, options, work.path());
    const int64_t others = other_bytes(model.plan.variants[0], kernels, options.memory_threads);
    needed = others + model.plan.workspace_bytes;
    if (needed <= options.memory) return;
    variants[0] = within_memory(step, options.memory - others, others);
  }
  fail("a step in ", options.memory, " bytes is not possible: it takes ", needed);
}

}  // namespace

void check(const CompileOptions &options) {
  check_model_name(options.name);
  chosen_targets(options.targets);
}

namespace {

CompiledModel compile_variants(std::vector<Graph> variants, int64_t samples, CompileOptions options,
                               bool training = false) {
  const std::vector<CpuTarget> targets = chosen_targets(options.targets);
  std::optional<TemporaryFolder> forgotten;
  if (options.cache.empty()) options.cache = forgotten.emplace().path();
  if (options.memory > 0) {
    fit_into_memory(variants, targets, options);
    options.progress = nullptr;  // all is there
  }
  PlannedModel model = planned(variants, options.state_outside);
  Plan &plan = model.plan;
  plan.samples = samples;
  plan.training = training;

  make_folder(options.folder);
  const TemporaryFolder work;
  const std::string name = options.name, library = "lib" + name + ".a", header = name + ".h",
                    driver = name + "_driver.c", main = name + "_main.c", weights = name + ".weights";
  const bool weights_inside = !options.weights_file;
  // The tool chain first: where it is missing, that is said before anything takes long.
  run_program({c_compiler(), "--version"}, work.path());
  if (weights_inside) {
    write_file(work.file("weights.bin"), plan.weights.data(), plan.weights.size());
    write_file(work.file(name + "_weights.s"), weights_text(name, "weights.bin"));
    run_program({c_compiler(), "-c", name + "_weights.s"}, work.path());
  } else {
    std::vector<uint8_t> file = weights_file_head(plan.weights);
    file.insert(file.end(), plan.weights.begin(), plan.weights.end());
    write_file(work.file(weights), file.data(), file.size());
  }
  const KernelMemory memory = compile_objects(model, targets, options, work.path());
  write_file(work.file(header), header_text(plan, name, weights_inside));
  write_file(work.file(driver),
             driver_text(plan, name, weights_inside,
                         {targets.back().name, feature_words(targets.back()), bytes_feature()}, memory));
  run_program({c_compiler(), "-std=gnu99", "-O2", "-fPIC", "-Wall", "-Wextra", "-c", driver}, work.path());

  archive_objects(library, work.path());

  CompiledModel made;
  made.weights_bytes = static_cast<int64_t>(plan.weights.size());
  made.code_bytes = static_cast<int64_t>(fs::file_size(work.file(library))) - (weights_inside ? made.weights_bytes : 0);
  made.workspace_bytes = plan.workspace_bytes;
  made.kernel_memory = memory;
  made.peak_bytes = plan.workspace_bytes + other_bytes(plan.variants[0], memory, 1);
  for (const Variant &v : plan.variants) made.steps += static_cast<int>(v.steps.size());
  made.kernels = plan.kernels;
  for (const CpuTarget &t : targets) made.targets.push_back(t.name);
  if (!weights_inside) made.weights_file = put(work.file(weights), options.folder, weights);
  made.library = put(work.file(library), options.folder, library);
  if (options.shared) {
    const std::string so = "lib" + name + ".so";
    run_program({c_compiler(), "-shared", "-o", so, "-Wl,-Bsymbolic", "-Wl,--whole-archive", library,
                 "-Wl,--no-whole-archive", "-lm", "-lpthread"},
                work.path());
    made.shared_library = put(work.file(so), options.folder, so);
  }
  if (options.main) {
    write_file(work.file(main), main_text(plan, name, weights_inside));
    made.main = put(work.file(main), options.folder, main);
  }
  made.driver = put(work.file(driver), options.folder, driver);
  made.header = put(work.file(header), options.folder, header);
  return made;
}

Graph prepared(const Graph &graph, const CompileOptions &options) {
  return prepared_to_compile(graph, options.exact_convolutions);
}

// The graph with the state of another one, which leaves it as it is.
Graph with_state_of(const Graph &step, Graph graph) {
  for (const Graph::State &s : step.state) {
    const auto found = graph.values.find(s.value);
    if (found == graph.values.end())
      graph.values[s.value] = {s.initial.shape(), s.initial.type(), {}};
    else if (!found->second.constant.defined() || found->second.shape != s.initial.shape())
      fail("the model has a value '", s.value, "', which is state of its training step and something else here");
    graph.add_state(s.value, s.value, s.initial);
  }
  return graph;
}

}  // namespace

CompiledModel compile_training(const Graph &step, const Graph &model, const CompileOptions &options) {
  check(options);
  std::vector<std::string> inputs = step.given();
  if (!inputs.empty()) inputs.pop_back();
  if (inputs != model.given() || step.asked().size() != 1)
    fail("a training step takes the inputs of its model and labels, and gives a loss");
  std::vector<Graph> variants = {prepared(step, options), prepared(with_state_of(step, model), options)};
  std::set<std::string> read;
  for (const Graph::Node &n : variants[1].nodes) read.insert(n.inputs.begin(), n.inputs.end());
  for (const Graph::State &s : step.state) {
    Graph::Value &here = variants[1].values.at(s.value);
    if (!read.count(s.value)) here.layout = variants[0].value(s.value).layout;  // moments and such: nobody minds
    if (is_channels_last(variants[0].value(s.value)) != is_channels_last(here))
      unsupported("the state '", s.value, "' lies otherwise in memory where the model trains than where it runs");
  }
  return compile_variants(variants, 0, options, true);
}

CompiledModel compile_model(const Graph &graph, const CompileOptions &options) {
  check(options);
  return compile_variants({prepared(graph, options)}, 0, options);
}

CompiledModel compile_batched_model(const Graph &many, const Graph &one, const CompileOptions &options) {
  check(options);
  const int64_t samples = check_samples_are_independent(many, one);
  return compile_variants({prepared(many, options), prepared(one, options)}, samples, options);
}

}  // namespace saltern::generators
