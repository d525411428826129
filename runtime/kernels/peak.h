#pragma once
// How fast this core can be at best, and how near to that some work comes.
//
// The clock of a shared machine moves by tens of percent within a second, so a time alone says little. Every sample of
// work is taken between two bursts of pure multiply-adds, and what counts is the ratio: the share of peak. Work on one
// thread is timed by that thread's own clock, so that other processes on the machine do not count either.

#include <functional>

#include "runtime/kernels/instruction_set.h"

namespace saltern {

// Billions of f32 operations per second of multiply-adds that touch no memory (a multiplication and an addition each
// where the instruction set has no fused one), on `threads` threads at once. One burst of some 50 microseconds.
double peak_gflops(InstructionSet set, int threads = 1);

struct Measurement {
  // Of the sample with the median share.
  double gflops = 0, peak_gflops = 0, share_of_peak = 0, milliseconds = 0;
  double best_share = 0, best_milliseconds = 0;  // the highest share, the shortest time: of two samples, perhaps
  int samples = 0;
};

struct MeasureOptions {
  InstructionSet set = instruction_set_in_use();
  int threads = 1;
  double seconds = 1;
  int least_samples = 5;
};

// Calls `work`, which does `flops` operations, for about `seconds`; the first call is not measured. Short work is
// repeated within a sample until it takes a millisecond.
Measurement measure(const std::function<void()> &work, double flops, const MeasureOptions &options = {});

}  // namespace saltern
