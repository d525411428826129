#pragma once
// How evenly tasks are shared out to threads, whose number is not known when a kernel is compiled.

namespace saltern::schedules {

// How many times longer `tasks` equal tasks take than if they could be cut at will: the mean of two threads and four.
// Seven tasks keep two threads busy for four rounds, where three and a half would do.
inline double unevenness(int tasks) {
  const auto on = [&](int threads) { return static_cast<double>((tasks + threads - 1) / threads * threads) / tasks; };
  return (on(2) + on(4)) / 2;
}

}  // namespace saltern::schedules
