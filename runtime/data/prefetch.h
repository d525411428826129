#pragma once
// Values made by a background thread, a few ahead of their consumer.
//
// `make` is called on that thread until it returns nothing. What it throws comes out of next() after the values made
// before. Destruction waits for the one call of `make` that may be under way and drops what was not taken.

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace saltern {

template <typename Value>
class Prefetch {
 public:
  Prefetch(std::function<std::optional<Value>()> make, size_t ahead)
      : make_(std::move(make)), ahead_(ahead > 0 ? ahead : 1), thread_([this] { run(); }) {}

  ~Prefetch() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Prefetch(const Prefetch &) = delete;
  Prefetch &operator=(const Prefetch &) = delete;

  // The next value, or nothing when there are no more.
  std::optional<Value> next() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !ready_.empty() || finished_; });
    if (ready_.empty()) {
      if (error_) std::rethrow_exception(error_);
      return std::nullopt;
    }
    std::optional<Value> value(std::move(ready_.front()));
    ready_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return value;
  }

 private:
  void run() {
    std::exception_ptr error;
    try {
      while (wait_for_room()) {
        std::optional<Value> value = make_();
        if (!value) break;
        const std::lock_guard<std::mutex> lock(mutex_);
        ready_.push_back(std::move(*value));
        changed_.notify_all();
      }
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    error_ = error;
    finished_ = true;
    changed_.notify_all();
  }

  bool wait_for_room() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return ready_.size() < ahead_ || stopping_; });
    return !stopping_;
  }

  std::function<std::optional<Value>()> make_;
  size_t ahead_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Value> ready_;
  std::exception_ptr error_;
  bool finished_ = false, stopping_ = false;
  std::thread thread_;  // last: it starts when all else is made
};

}  // namespace saltern
