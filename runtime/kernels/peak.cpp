#include "runtime/kernels/peak.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <numeric>
#include <vector>

#include "runtime/error.h"
#include "runtime/kernels/thread_pool.h"

namespace saltern {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// Time that this thread has run for: what other processes take from it does not count.
double own_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double wall_seconds() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

// Twelve independent chains hide the latency of two pipelines (at most 2 x 4 cycles fused, 2 x 6 unfused) and leave
// room for the two constants in sixteen registers.
constexpr int chains = 12, turns = 20000;

// Each burst returns something that depends on all of its work.
#define SALTERN_BURST(name, features, Vector, broadcast, multiply_add)                                         \
  __attribute__((target(features), noinline)) float name() {                                                   \
    Vector a[chains];                                                                                          \
    _Pragma("GCC unroll 12") for (int i = 0; i < chains; ++i) a[i] = broadcast(0.01f * static_cast<float>(i)); \
    const Vector b = broadcast(0.999f), c = broadcast(0.001f);                                                 \
    for (int turn = 0; turn < turns; ++turn) {                                                                 \
      _Pragma("GCC unroll 12") for (int i = 0; i < chains; ++i) a[i] = multiply_add(a[i], b, c);               \
    }                                                                                                          \
    float sum = 0;                                                                                             \
    _Pragma("GCC unroll 12") for (int i = 0; i < chains; ++i) sum += a[i][0];                                  \
    return sum;                                                                                                \
  }

#define SALTERN_UNFUSED(a, b, c) _mm_add_ps(_mm_mul_ps(a, b), c)
SALTERN_BURST(burst_sse41, "sse4.1", __m128, _mm_set1_ps, SALTERN_UNFUSED)
SALTERN_BURST(burst_avx2, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps)
SALTERN_BURST(burst_avx512, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps)
#undef SALTERN_UNFUSED
#undef SALTERN_BURST

struct Burst {
  float (*run)();
  int lanes;
  double flops() const { return 2.0 * lanes * chains * turns; }
};

// In the order of InstructionSet.
constexpr std::array<Burst, 3> bursts = {{{burst_sse41, 4}, {burst_avx2, 8}, {burst_avx512, 16}}};

double timed(const Burst &burst) {
  const double begin = own_seconds();
  volatile float keep = burst.run();
  (void)keep;
  return burst.flops() / (own_seconds() - begin) / 1e9;
}

}  // namespace

double peak_gflops(InstructionSet set, int threads) {
  const auto available = available_instruction_sets();
  if (std::find(available.begin(), available.end(), set) == available.end())
    fail("this CPU has no ", name(set), "; its peak cannot be measured here");
  const Burst &burst = bursts[static_cast<size_t>(set)];
  if (threads <= 1) return timed(burst);
  std::atomic<int> arrived{0};
  std::vector<double> rates(static_cast<size_t>(threads));
  parallel_for(threads, [&](int i) {
    // Wait for the others so that all bursts overlap; not for ever, since the pool may run tasks one by one.
    ++arrived;
    const auto begin = Clock::now();
    while (arrived < threads && seconds_since(begin) < 1e-3) {
    }
    rates[static_cast<size_t>(i)] = timed(burst);
  });
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

Measurement measure(const std::function<void()> &work, double flops, const MeasureOptions &options) {
  struct Sample {
    double seconds, peak, share;
  };
  // On one thread its own time is exact even where the machine is busy; work on several can only be timed by the wall.
  const auto now = options.threads <= 1 ? own_seconds : wall_seconds;
  const auto time_of = [&](int calls) {
    const double start = now();
    for (int i = 0; i < calls; ++i) work();
    return now() - start;
  };
  work();
  int calls = 1;
  while (time_of(calls) < 1e-3 && calls < 1 << 20) calls *= 2;
  std::vector<Sample> samples;
  const auto begin = Clock::now();
  double before = peak_gflops(options.set, options.threads);
  do {
    const double seconds = time_of(calls) / calls;
    const double after = peak_gflops(options.set, options.threads);
    const double peak = std::max(before, after);
    samples.push_back({seconds, peak, flops / seconds / 1e9 / peak});
    before = after;
  } while (seconds_since(begin) < options.seconds || static_cast<int>(samples.size()) < options.least_samples);

  std::sort(samples.begin(), samples.end(), [](const Sample &a, const Sample &b) { return a.share < b.share; });
  const Sample &median = samples[samples.size() / 2];
  // Where the clock moves, the sample of the best share need not be the shortest.
  double shortest = median.seconds;
  for (const Sample &s : samples) shortest = std::min(shortest, s.seconds);
  return {flops / median.seconds / 1e9,
          median.peak,
          median.share,
          median.seconds * 1e3,
          samples.back().share,
          shortest * 1e3,
          static_cast<int>(samples.size())};
}

}  // namespace saltern
