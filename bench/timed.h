#pragma once
// Benchmarks that measure by themselves and report one time, in milliseconds.

#include <benchmark/benchmark.h>

#include <string>

namespace saltern {

template <typename Function, typename... Arguments>
void add_timed(const std::string &name, const Function &run, const Arguments &...arguments) {
  benchmark::RegisterBenchmark(name.c_str(), run, arguments...)
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
}

// What a benchmark's main() does when all are added; returns its exit code.
inline int run_benchmarks(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace saltern
