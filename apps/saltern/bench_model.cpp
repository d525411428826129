#include "apps/saltern/bench_model.h"
#include "apps/json_text.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/saltern/command.h"
#include "apps/saltern/compiled_run.h"
#include "apps/saltern/layer_times.h"
#include "apps/saltern/loaded_model.h"
#include "apps/saltern/random_inputs.h"
#include "runtime/files/file.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/flops.h"
#include "runtime/kernels/peak.h"
#include "runtime/kernels/thread_pool.h"

namespace saltern {

namespace {

using Clock = std::chrono::steady_clock;

struct Timings {
  std::vector<double> milliseconds;  // sorted
  double peak_gflops = 0;            // of the CPU, the median of bursts between the runs; 0: it ran elsewhere

  double at(double share) const {
    return milliseconds[static_cast<size_t>(share * static_cast<double>(milliseconds.size() - 1))];
  }
};

Timings timed(const std::function<void()> &run, const BenchModelOptions &o) {
  constexpr size_t least = 5, most = 100000;
  run();  // the first one allocates
  std::vector<double> times, peaks;
  const auto until = Clock::now() + std::chrono::duration<double>(o.seconds);
  while (times.size() < least || (Clock::now() < until && times.size() < most)) {
    if (o.device.is_cpu()) peaks.push_back(peak_gflops(o.machine.set(), o.machine.threads));
    const auto begin = Clock::now();
    run();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  std::sort(peaks.begin(), peaks.end());
  return {times, peaks.empty() ? 0 : peaks[peaks.size() / 2]};
}

// The layers of a graph that runs node by node.
std::vector<Layer> layers_of(const Graph &graph) {
  std::vector<Layer> layers;
  for (const Graph::Node &n : graph.nodes)
    layers.push_back({n.outputs[0], n.operation, graph.value(n.outputs[0]).shape, flops(graph, n)});
  return layers;
}

void record(LayerTimes &times, const std::function<void()> &run, const BenchModelOptions &o) {
  constexpr int least = 3, most = 1000;
  const auto until = Clock::now() + std::chrono::duration<double>(o.seconds / 2);
  for (int i = 0; i < least || (Clock::now() < until && i < most); ++i) times.record(run);
}

struct Measured {
  Timings whole;
  std::optional<LayerTimes> layers;
};

Measured measured(const Graph &graph, const BenchModelOptions &o) {
  const std::map<std::string, Tensor> inputs = random_inputs(graph);
  const bool by_layers = o.layers || !o.trace.empty();
  Measured m;
  if (o.compiled) {
    generators::CompiledGraph compiled = compiled_here(graph, o.machine.threads, o.convolutions);
    m.whole = timed([&] { compiled.run(inputs); }, o);
    if (!by_layers) return m;
    m.layers.emplace(compiled_layers_of(graph, o.convolutions.exact));
    compiled.watch([&](const std::string &) { m.layers->done(); });
    record(
        *m.layers, [&] { compiled.run(inputs); }, o);
    compiled.watch(nullptr);
    return m;
  }
  const auto run_to_the_end = [&] {
    for (const auto &[name, result] : run(graph, inputs)) result.raw();  // a device goes on until it is asked
  };
  on_input(run_to_the_end);
  m.whole = timed(run_to_the_end, o);
  if (!by_layers) return m;
  m.layers.emplace(layers_of(graph));
  RunHooks hooks;
  hooks.done = [&](const Graph::Node &) { m.layers->done(); };
  record(
      *m.layers, [&] { run(graph, inputs, hooks); }, o);
  return m;
}

}  // namespace

int bench_model(const BenchModelOptions &o) {
  if (o.compiled) o.device.expect_cpu("--compiled", "--device " + o.device.name + " runs library kernels");
  if (o.layers || !o.trace.empty())
    o.device.expect_cpu(o.layers ? "--layers" : "--trace", "a device goes on while the next kernel is called");
  const UseDevice device = o.device.use();
  const LimitInstructionSet limit(o.machine.set());
  set_threads(o.machine.threads);
  const Graph graph = LoadedModel(o.model).lowered();
  const Measured m = measured(graph, o);
  if (!o.trace.empty()) on_input([&] { write_atomically(o.trace, json_text(m.layers->trace())); });
  const Timings &t = m.whole;
  const double gflops = flops(graph) / (t.at(0.5) * 1e6), share = o.device.is_cpu() ? gflops / t.peak_gflops : 0;
  if (o.json) {
    nlohmann::ordered_json row = {{"model", o.model.path},  {"kernels", o.compiled ? "exact" : "library"},
                                  {"isa", o.machine.isa},   {"threads", o.machine.threads},
                                  {"median_ms", t.at(0.5)}, {"min_ms", t.milliseconds.front()},
                                  {"p90_ms", t.at(0.9)},    {"gflops", gflops}};
    if (o.device.is_cpu())
      row.update({{"peak_gflops", t.peak_gflops}, {"share_of_peak", share}});
    else
      row["device"] = o.device.name;
    row["runs"] = t.milliseconds.size();
    if (o.layers) row["layers"] = to_json(m.layers->medians());
    std::printf("%s\n", json_text(row).c_str());
  } else {
    if (o.layers) std::printf("%s", table(m.layers->medians()).c_str());
    std::printf("%s: %s kernels, %s, %d thread%s: median %.3f ms, best %.3f ms, 90 %% below %.3f ms; %.1f GF/s",
                o.model.path.c_str(), o.compiled ? "exact" : "library",
                o.device.is_cpu() ? o.machine.isa.c_str() : o.device.name.c_str(), o.machine.threads,
                o.machine.threads == 1 ? "" : "s", t.at(0.5), t.milliseconds.front(), t.at(0.9), gflops);
    if (o.device.is_cpu()) std::printf(", %.1f %% of peak", 100 * share);
    std::printf("\n");
  }
  return 0;
}

}  // namespace saltern
