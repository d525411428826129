#pragma once
// How work is shared out to threads, whose number is not known when a kernel is compiled.

#include <algorithm>

namespace saltern::schedules {

// What operations on so many bytes, read once, take on one thread: a row times a matrix waits for the matrix.
inline double estimated_microseconds(double flops, double bytes) { return std::max(flops / 1e5, bytes / 5e4); }

// What a task should take at least: a word to another thread costs a microsecond or two.
constexpr double task_microseconds = 10;

// How many times longer `tasks` equal tasks take than if they could be cut at will: the mean of two threads and four.
// Seven tasks keep two threads busy for four rounds, where three and a half would do.
inline double unevenness(int tasks) {
  const auto on = [&](int threads) { return static_cast<double>((tasks + threads - 1) / threads * threads) / tasks; };
  return (on(2) + on(4)) / 2;
}

}  // namespace saltern::schedules
