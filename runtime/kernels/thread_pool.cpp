#include "runtime/kernels/thread_pool.h"

#include <HalideRuntime.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/error.h"

namespace saltern {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto spin_time = std::chrono::milliseconds(2);
constexpr int max_threads = 256;

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// One parallel loop: tasks are claimed by an atomic counter, so who runs a task varies, never what it computes.
struct Loop {
  halide_task_t task;
  void *user_context;
  uint8_t *closure;
  int first, count;
  std::atomic<int> next{0}, unfinished;
  std::atomic<int> result{0};

  Loop(halide_task_t t, void *u, uint8_t *c, int first, int count)
      : task(t), user_context(u), closure(c), first(first), count(count), unfinished(count) {}

  void work() {
    for (int i; (i = next.fetch_add(1)) < count;) {
      const int r = task(user_context, first + i, closure);
      if (r != 0) result = r;
      unfinished.fetch_sub(1);
    }
  }
};

thread_local bool inside_parallel_loop = false;

class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { serve(); });
  }

  ~Pool() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      quit_ = true;
    }
    wake_.notify_all();
    for (std::thread &w : workers_) w.join();
  }

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  int run(Loop &loop) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      loop_ = &loop;
      resting_ = false;
      generation_.fetch_add(1);
    }
    if (sleeping_.load() > 0) wake_.notify_all();
    inside_parallel_loop = true;
    loop.work();
    inside_parallel_loop = false;
    while (loop.unfinished.load() > 0) relax();
    // No worker may still hold the loop, which lives on the caller's stack.
    {
      std::lock_guard<std::mutex> lock(mutex_);
      loop_ = nullptr;
    }
    while (busy_.load() > 0) relax();
    return loop.result;
  }

  void rest() { resting_ = true; }

 private:
  void serve() {
    inside_parallel_loop = true;
    int seen = 0;
    for (;;) {
      const auto until = Clock::now() + spin_time;
      while (generation_.load() == seen && !quit_ && !resting_ && Clock::now() < until) relax();
      Loop *loop;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        if (generation_.load() == seen && !quit_) {
          sleeping_.fetch_add(1);
          wake_.wait(lock, [&] { return generation_.load() != seen || quit_; });
          sleeping_.fetch_sub(1);
        }
        if (quit_) return;
        seen = generation_.load();
        loop = loop_;
        if (loop) busy_.fetch_add(1);
      }
      if (!loop) continue;
      loop->work();
      busy_.fetch_sub(1);
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<int> generation_{0}, sleeping_{0}, busy_{0};
  std::atomic<bool> quit_{false}, resting_{false};
  Loop *loop_ = nullptr;
  std::vector<std::thread> workers_;
};

int default_threads() {
  if (const char *wanted = std::getenv("SALTERN_THREADS")) {
    const int n = std::atoi(wanted);
    if (n < 1 || n > max_threads) fail("SALTERN_THREADS is '", wanted, "'; expected 1 to ", max_threads);
    return n;
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

struct SharedPool {
  std::mutex mutex;  // one parallel loop at a time; a second caller runs its own serially
  std::unique_ptr<Pool> pool;
  int count = 0;
};

SharedPool &shared() {
  static SharedPool s;
  return s;
}

int serial(void *user_context, halide_task_t task, int first, int count, uint8_t *closure) {
  for (int i = 0; i < count; ++i)
    if (const int r = task(user_context, first + i, closure)) return r;
  return 0;
}

int par_for(void *user_context, halide_task_t task, int first, int count, uint8_t *closure) {
  if (count <= 1 || inside_parallel_loop) return serial(user_context, task, first, count, closure);
  SharedPool &s = shared();
  std::unique_lock<std::mutex> lock(s.mutex, std::try_to_lock);
  if (!lock) return serial(user_context, task, first, count, closure);
  if (s.count <= 1) return serial(user_context, task, first, count, closure);
  if (!s.pool || s.pool->size() != s.count) {
    s.pool.reset();
    s.pool = std::make_unique<Pool>(s.count);
  }
  Loop loop(task, user_context, closure, first, count);
  return s.pool->run(loop);
}

}  // namespace

int threads() {
  SharedPool &s = shared();
  std::lock_guard<std::mutex> lock(s.mutex);
  if (s.count == 0) s.count = default_threads();
  return s.count;
}

void set_threads(int count) {
  if (count < 1 || count > max_threads) fail(count, " threads; expected 1 to ", max_threads);
  SharedPool &s = shared();
  std::lock_guard<std::mutex> lock(s.mutex);
  s.count = count;
}

void rest_threads() {
  SharedPool &s = shared();
  std::lock_guard<std::mutex> lock(s.mutex);
  if (s.pool) s.pool->rest();
}

void parallel_for(int count, const std::function<void(int)> &work) {
  threads();
  const auto task = [](void *, int i, uint8_t *closure) {
    (*reinterpret_cast<const std::function<void(int)> *>(closure))(i);
    return 0;
  };
  // The closure is only read.
  par_for(nullptr, task, 0, count, reinterpret_cast<uint8_t *>(const_cast<std::function<void(int)> *>(&work)));
}

void install_thread_pool() {
  threads();  // a bad SALTERN_THREADS is reported here, not inside a kernel
  halide_set_custom_do_par_for(par_for);
}

}  // namespace saltern
