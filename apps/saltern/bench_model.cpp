#include "apps/saltern/bench_model.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>

#include "apps/saltern/compiled_run.h"
#include "apps/saltern/random_inputs.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/flops.h"
#include "runtime/peak.h"
#include "runtime/thread_pool.h"

namespace saltern {

namespace {

using Clock = std::chrono::steady_clock;

struct Timings {
  std::vector<double> milliseconds;  // sorted
  double peak_gflops = 0;            // the median of bursts between the runs

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
    peaks.push_back(peak_gflops(o.machine.set(), o.machine.threads));
    const auto begin = Clock::now();
    run();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  std::nth_element(peaks.begin(), peaks.begin() + static_cast<std::ptrdiff_t>(peaks.size() / 2), peaks.end());
  return {times, peaks[peaks.size() / 2]};
}

}  // namespace

int bench_model(const BenchModelOptions &o) {
  const LimitInstructionSet limit(o.machine.set());
  set_threads(o.machine.threads);
  const Graph graph = o.model.graph();
  const std::map<std::string, Tensor> inputs = random_inputs(graph);
  Timings t;
  if (o.compiled) {
    const CompiledGraph compiled(graph, o.machine.threads);
    t = timed([&] { compiled.run(inputs); }, o);
  } else {
    t = timed([&] { run(graph, inputs); }, o);
  }
  const double work = flops(graph), gflops = work / (t.at(0.5) * 1e6), share = gflops / t.peak_gflops;
  if (o.json) {
    const nlohmann::ordered_json row = {{"model", o.model.path},        {"kernels", o.compiled ? "exact" : "library"},
                                        {"isa", o.machine.isa},         {"threads", o.machine.threads},
                                        {"median_ms", t.at(0.5)},       {"min_ms", t.milliseconds.front()},
                                        {"p90_ms", t.at(0.9)},          {"gflops", gflops},
                                        {"peak_gflops", t.peak_gflops}, {"share_of_peak", share},
                                        {"runs", t.milliseconds.size()}};
    std::printf("%s\n", row.dump().c_str());
  } else {
    std::printf(
        "%s: %s kernels, %s, %d thread%s: median %.3f ms, best %.3f ms, 90 %% below %.3f ms; %.1f GF/s, %.1f %% of "
        "peak\n",
        o.model.path.c_str(), o.compiled ? "exact" : "library", o.machine.isa.c_str(), o.machine.threads,
        o.machine.threads == 1 ? "" : "s", t.at(0.5), t.milliseconds.front(), t.at(0.9), gflops, 100 * share);
  }
  return 0;
}

}  // namespace saltern
