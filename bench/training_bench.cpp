// The training step of the demo's net, batch 64, with one thread and with two.
//
//   share_of_peak   of the multiply-add peak of as many cores, measured around every sample in the same run

#include <benchmark/benchmark.h>

#include "bench/training_step.h"
#include "runtime/kernels/peak.h"
#include "runtime/kernels/thread_pool.h"

namespace {

void training_step(benchmark::State &state) {
  const int threads = static_cast<int>(state.range(0));
  saltern::set_threads(threads);
  saltern::TrainingStep step;
  saltern::Measurement m;
  for (auto _ : state) {
    m = saltern::measure([&] { benchmark::DoNotOptimize(step()); }, step.flops(),
                         {saltern::instruction_set_in_use(), threads, 2});
    state.SetIterationTime(m.milliseconds * 1e-3);
  }
  state.counters["share_of_peak"] = m.share_of_peak;
  state.counters["gflops"] = m.gflops;
}

BENCHMARK(training_step)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
