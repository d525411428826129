// The measured peak is a peak: wider instruction sets are no slower, work is measured below it, and the parts of one
// measurement fit together.

#include "runtime/kernels/peak.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "runtime/error.h"

namespace saltern {
namespace {

// The best burst of each set, all of them taken in turns, until a wider set is no slower or five seconds are over: what
// else the machine does slows a burst down, and may do so for as long as fifty of them take.
std::vector<double> best_peaks(const std::vector<InstructionSet> &sets) {
  std::vector<double> best(sets.size(), 0.0);
  const auto begin = std::chrono::steady_clock::now();
  const auto in_order = [&] {
    for (size_t i = 1; i < best.size(); ++i)
      if (best[i] <= 0.9 * best[i - 1]) return false;
    return true;
  };
  do {
    for (int round = 0; round < 50; ++round)
      for (size_t i = 0; i < sets.size(); ++i) best[i] = std::max(best[i], peak_gflops(sets[i]));
  } while (!in_order() && std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  return best;
}

TEST(Peak, IsNoLowerForAWiderInstructionSet) {
  const std::vector<InstructionSet> sets = available_instruction_sets();
  const std::vector<double> peaks = best_peaks(sets);
  for (size_t i = 0; i < sets.size(); ++i) {
    EXPECT_GT(peaks[i], 1) << name(sets[i]);
    EXPECT_GT(peaks[i], i > 0 ? 0.9 * peaks[i - 1] : 0) << name(sets[i]);
  }
}

TEST(Peak, IsReachedByMultiplyAddsInManyRegistersOnly) {
  // One chain of dependent additions cannot come near.
  const Measurement m = measure(
      [] {
        volatile float sum = 0;
        for (int i = 0; i < 100000; ++i) sum = sum + 1.0f;
      },
      100000, {available_instruction_sets().back(), 1, 0.05});
  EXPECT_GT(m.share_of_peak, 0);
  EXPECT_LT(m.share_of_peak, 0.2);
}

TEST(Peak, PartsOfAMeasurementFitTogether) {
  const Measurement m = measure(
      [] {
        volatile float sum = 0;
        for (int i = 0; i < 10000; ++i) sum = sum + 1.0f;
      },
      10000, {available_instruction_sets().front(), 1, 0.02});
  EXPECT_GE(m.samples, 5);
  EXPECT_NEAR(m.share_of_peak, m.gflops / m.peak_gflops, 1e-9);
  EXPECT_NEAR(m.gflops, 10000 / (m.milliseconds * 1e-3) / 1e9, 1e-9);
  EXPECT_GE(m.best_share, m.share_of_peak);
  EXPECT_LE(m.best_milliseconds, m.milliseconds);
}

TEST(Peak, TheBestTimeIsTheShortestEvenWhereTheClockMoves) {
  // A share can be best in a sample that took long, where its peak was measured low: so it is with short samples.
  for (int i = 0; i < 20; ++i) {
    const Measurement m = measure(
        [] {
          volatile float sum = 0;
          for (int k = 0; k < 1000; ++k) sum = sum + 1.0f;
        },
        1000, {available_instruction_sets().front(), 1, 0.005});
    EXPECT_LE(m.best_milliseconds, m.milliseconds);
  }
}

TEST(Peak, IsMeasuredForWhatTheCpuHasAndAnErrorForWhatItLacks) {
  const auto available = available_instruction_sets();
  for (InstructionSet set : {InstructionSet::sse41, InstructionSet::avx2, InstructionSet::avx512})
    if (std::find(available.begin(), available.end(), set) != available.end())
      EXPECT_GT(peak_gflops(set), 0) << name(set);
    else
      EXPECT_THROW(peak_gflops(set), Error) << name(set);
}

}  // namespace
}  // namespace saltern
