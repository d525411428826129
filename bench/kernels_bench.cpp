// Every declared kernel on the calls that its declaration times, through the registry:
//
//   share_of_peak   of this core's multiply-add peak, measured around every sample in the same run
//   gigabytes/s     of buffers read or written once, for kernels that are bound by memory
//
//   bench_kernels --benchmark_filter=matmul

#include <string>

#include "bench/timed.h"
#include "generators/just_in_time.h"
#include "generators/workload.h"
#include "runtime/kernels/peak.h"
#include "runtime/kernels/thread_pool.h"

namespace {

using namespace saltern;

void run(benchmark::State &state, const generators::DeclaredTiming &timing, InstructionSet set) {
  const LimitInstructionSet limit(set);
  set_threads(1);
  generators::Workload work(timing.kernel, timing.call);
  Measurement m;
  for (auto _ : state) {
    m = measure([&] { work.run_library(); }, timing.flops, {set, 1, 0.3});
    state.SetIterationTime(m.milliseconds * 1e-3);
  }
  state.counters["share_of_peak"] = m.share_of_peak;
  state.counters["gflops"] = m.gflops;
  state.counters["peak_gflops"] = m.peak_gflops;
  state.counters["gigabytes/s"] = work.bytes() / (m.milliseconds * 1e-3) / 1e9;
}

}  // namespace

int main(int argc, char **argv) {
  for (const generators::DeclaredTiming &timing : generators::declared_timings())
    for (InstructionSet set : available_instruction_sets())
      add_timed(timing.kernel + "/" + timing.label + "/" + std::string(name(set)), run, timing, set);
  return run_benchmarks(argc, argv);
}
