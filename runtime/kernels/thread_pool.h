#pragma once
// The threads that kernels run on. Workers spin briefly before they sleep: parallel regions of a small model take
// 10-700 us, and waking a sleeping thread costs as much (measured: a 175 us region stays 175 us on two threads of a
// sleeping pool, and takes 89 us on this one).

#include <functional>

namespace saltern {

// How many threads work on a parallel region, the caller included. The default is SALTERN_THREADS, else all cores.
int threads();
void set_threads(int count);

// Threads that wait for work do so spinning, for 2 ms; now they sleep at once, until there is work again: for whoever
// measures threads that are not these.
void rest_threads();

// Calls work(i) for every i in [0, count), on these threads; it must not throw. Inside another parallel loop, serially.
void parallel_for(int count, const std::function<void(int)> &work);

// Makes Halide's parallel loops run here; the kernel registry calls it.
void install_thread_pool();

}  // namespace saltern
