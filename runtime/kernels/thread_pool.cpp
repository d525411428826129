#include "runtime/kernels/thread_pool.h"

#include <HalideRuntime.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "runtime/error.h"
#include "runtime/kernels/pool.h"

namespace saltern {

namespace {

constexpr int most_threads = saltern_pool_most_threads;

int default_threads() {
  if (const char *wanted = std::getenv("SALTERN_THREADS")) {
    const int n = std::atoi(wanted);
    if (n < 1 || n > most_threads) fail("SALTERN_THREADS is '", wanted, "'; expected 1 to ", most_threads);
    return n;
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

// What the library asks the pool for: nothing before there is a loop.
class Share {
 public:
  ~Share() {
    if (reserved_ > 0) saltern_pool_1_release();
  }

  int count() {
    if (const int known = count_) return known;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (count_ == 0) count_ = default_threads();
    return count_;
  }
  void set(int count) { count_ = count; }

  // Threads for a loop that begins.
  int reserved() {
    const int wanted = count();
    if (reserved_ >= wanted) return wanted;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (reserved_ < wanted) {
      saltern_pool_1_reserve(wanted);
      if (reserved_ > 0) saltern_pool_1_release();
      reserved_ = wanted;
    }
    return wanted;
  }

 private:
  std::mutex mutex_;
  std::atomic<int> count_{0}, reserved_{0};
};

Share &share() {
  static Share s;
  return s;
}

int par_for(void *user_context, halide_task_t task, int first, int count, uint8_t *closure) {
  struct Loop {
    void *user_context;
    halide_task_t task;
    int first;
    uint8_t *closure;
  } loop = {user_context, task, first, closure};
  const auto run = [](void *of, int i) {
    const Loop &l = *static_cast<const Loop *>(of);
    return l.task(l.user_context, l.first + i, l.closure);
  };
  return saltern_pool_1_run(count > 1 ? share().reserved() : 1, run, &loop, count);
}

}  // namespace

int threads() { return share().count(); }

void set_threads(int count) {
  if (count < 1 || count > most_threads) fail(count, " threads; expected 1 to ", most_threads);
  share().set(count);
}

void parallel_for(int count, const std::function<void(int)> &work) {
  const auto run = [](void *of, int i) {
    (*static_cast<const std::function<void(int)> *>(of))(i);
    return 0;
  };
  // It is only read.
  saltern_pool_1_run(count > 1 ? share().reserved() : 1, run, const_cast<std::function<void(int)> *>(&work), count);
}

void install_thread_pool() {
  threads();  // a bad SALTERN_THREADS is reported here, not inside a kernel
  halide_set_custom_do_par_for(par_for);
}

ReservedThreads::ReservedThreads(int count) : count_(count) { saltern_pool_1_reserve(count); }
ReservedThreads::~ReservedThreads() { saltern_pool_1_release(); }

int ReservedThreads::run(int (*task)(void *closure, int i), void *closure, int count) const {
  return saltern_pool_1_run(count_, task, closure, count);
}

}  // namespace saltern
