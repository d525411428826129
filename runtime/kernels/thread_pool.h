#pragma once
// The threads that kernels run on: those of the process (pool.h), which compiled models in it take, too.

#include <functional>

namespace saltern {

// How many threads work on a parallel region, the caller included. The default is SALTERN_THREADS, else all cores.
int threads();
void set_threads(int count);

// Calls work(i) for every i in [0, count), on these threads; it must not throw. Inside another parallel loop, serially.
void parallel_for(int count, const std::function<void(int)> &work);

// Makes Halide's parallel loops run here; the kernel registry calls it.
void install_thread_pool();

// Threads of the same pool for a compiled model, which has a number of its own.
class ReservedThreads {
 public:
  explicit ReservedThreads(int count);
  ~ReservedThreads();
  ReservedThreads(const ReservedThreads &) = delete;
  ReservedThreads &operator=(const ReservedThreads &) = delete;

  // Calls task(closure, i) for every i in [0, count): zero, or what a task returned that failed.
  int run(int (*task)(void *closure, int i), void *closure, int count) const;

 private:
  int count_;
};

}  // namespace saltern
