// The training step of the demo's net, batch 64, with one thread and with two.

#include <benchmark/benchmark.h>

#include "bench/training_step.h"
#include "runtime/thread_pool.h"

namespace {

void training_step(benchmark::State &state) {
  saltern::set_threads(static_cast<int>(state.range(0)));
  saltern::TrainingStep step;
  for (auto _ : state) benchmark::DoNotOptimize(step());
}

BENCHMARK(training_step)->ArgName("threads")->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
