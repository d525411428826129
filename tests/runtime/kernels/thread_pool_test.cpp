// The thread pool runs every task of Halide's parallel loops once, whatever the number of threads.

#include "runtime/kernels/thread_pool.h"

#include <HalideRuntime.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "runtime/error.h"

namespace saltern {
namespace {

struct Counts {
  std::vector<std::atomic<int>> of;
  explicit Counts(int n) : of(n) {}
};

int count_task(void *, int i, uint8_t *closure) {
  reinterpret_cast<Counts *>(closure)->of[i].fetch_add(1);
  return 0;
}

void expect_each_once(const Counts &counts, int times = 1) {
  for (size_t i = 0; i < counts.of.size(); ++i) EXPECT_EQ(counts.of[i].load(), times) << i;
}

int run(halide_task_t task, int count, void *closure) {
  return halide_do_par_for(nullptr, task, 0, count, static_cast<uint8_t *>(closure));
}

class ThreadPool : public testing::Test {
 protected:
  void SetUp() override { install_thread_pool(); }
  void TearDown() override { set_threads(before_); }
  int before_ = threads();
};

double own_seconds() {
  timespec t = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

TEST_F(ThreadPool, ThreadsWithNothingToDoSleep) {
  set_threads(2);
  Counts counts(2);
  run(count_task, 2, &counts);
  expect_each_once(counts);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const double begin = own_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  EXPECT_LT(own_seconds() - begin, 0.02);
}

int threads_of_process() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

TEST_F(ThreadPool, CompiledModelsTakeTheLibrarysThreads) {
  set_threads(3);
  Counts counts(7);
  run(count_task, 7, &counts);
  const int before = threads_of_process();
  const ReservedThreads some(2), as_many(3);
  EXPECT_EQ(threads_of_process(), before);
  const auto count_one = [](void *closure, int i) { return count_task(nullptr, i, static_cast<uint8_t *>(closure)); };
  EXPECT_EQ(some.run(count_one, &counts, 7), 0);
  EXPECT_EQ(as_many.run(count_one, &counts, 7), 0);
  expect_each_once(counts, 3);
  const ReservedThreads more(before + 2);
  EXPECT_EQ(threads_of_process(), before + 2);
}

TEST_F(ThreadPool, NoMoreThreadsHelpThanALoopAsksFor) {
  set_threads(6);
  Counts all(6);
  run(count_task, 6, &all);
  const ReservedThreads two(2);
  struct Seen {
    std::mutex mutex;
    std::set<std::thread::id> threads;
  } seen;
  const auto note = [](void *closure, int) {
    Seen &s = *static_cast<Seen *>(closure);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::lock_guard<std::mutex> lock(s.mutex);
    s.threads.insert(std::this_thread::get_id());
    return 0;
  };
  EXPECT_EQ(two.run(note, &seen, 40), 0);
  EXPECT_LE(seen.threads.size(), 2u);
}

TEST_F(ThreadPool, EveryTaskRunsOnceWithAnyNumberOfThreads) {
  for (int n : {1, 2, 3, 8, 2, 1}) {
    set_threads(n);
    EXPECT_EQ(threads(), n);
    for (int count : {0, 1, 2, 7, 1000}) {
      Counts counts(count);
      EXPECT_EQ(run(count_task, count, &counts), 0);
      expect_each_once(counts);
    }
  }
}

TEST_F(ThreadPool, TwoTasksRunAtTheSameTime) {
  set_threads(2);
  std::atomic<int> begun{0};
  const auto meet = [](void *, int, uint8_t *closure) {
    auto &count = *reinterpret_cast<std::atomic<int> *>(closure);
    count.fetch_add(1);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (count.load() < 2)
      if (std::chrono::steady_clock::now() > until) return -1;
    return 0;
  };
  EXPECT_EQ(run(meet, 2, &begun), 0) << "the second task began only after the first had ended";
}

TEST_F(ThreadPool, ManySmallLoopsNeitherHangNorLoseTasks) {
  set_threads(2);
  Counts counts(3);
  for (int i = 0; i < 20000; ++i) ASSERT_EQ(run(count_task, 3, &counts), 0);
  expect_each_once(counts, 20000);
}

TEST_F(ThreadPool, ATaskThatFailsMakesItsLoopFail) {
  const auto fail_at_five = [](void *, int i, uint8_t *) { return i == 5 ? -7 : 0; };
  for (int n : {1, 2}) {
    set_threads(n);
    EXPECT_EQ(run(fail_at_five, 10, nullptr), -7);
    Counts counts(10);
    EXPECT_EQ(run(count_task, 10, &counts), 0) << "the loop after it is not affected";
    expect_each_once(counts);
  }
}

TEST_F(ThreadPool, LoopsInsideTasksRunToTheirEnd) {
  set_threads(2);
  Counts counts(50);
  const auto outer = [](void *, int, uint8_t *closure) {
    return halide_do_par_for(nullptr, count_task, 0, 50, closure);
  };
  EXPECT_EQ(run(outer, 8, &counts), 0);
  expect_each_once(counts, 8);
}

TEST_F(ThreadPool, CallersOnSeveralThreadsAllFinish) {
  set_threads(2);
  std::vector<std::thread> callers;
  std::vector<std::unique_ptr<Counts>> counts;
  for (int i = 0; i < 4; ++i) counts.push_back(std::make_unique<Counts>(100));
  for (auto &c : counts)
    callers.emplace_back([&c] {
      for (int i = 0; i < 200; ++i) run(count_task, 100, c.get());
    });
  for (std::thread &t : callers) t.join();
  for (const auto &c : counts) expect_each_once(*c, 200);
}

TEST_F(ThreadPool, ImpossibleCountsAreRefused) {
  EXPECT_THROW(set_threads(0), Error);
  EXPECT_THROW(set_threads(-3), Error);
  EXPECT_THROW(set_threads(100000), Error);
}

}  // namespace
}  // namespace saltern
