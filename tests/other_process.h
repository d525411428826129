#pragma once
// A process that is killed while it does something.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "runtime/error.h"

namespace saltern {

// Acts in another process. That waits where it calls the function that it is given, or at the end, and the constructor
// returns then.
class OtherProcess {
 public:
  explicit OtherProcess(const std::function<void(const std::function<void()> &wait)> &act) {
    int ends[2];
    if (pipe(ends) != 0) fail("cannot make a pipe");
    process_ = fork();
    if (process_ == 0) {
      const auto wait = [&] {
        if (write(ends[1], "!", 1) != 1) _exit(1);
        for (;;) pause();
      };
      act(wait);
      wait();
    }
    char ready;
    EXPECT_EQ(read(ends[0], &ready, 1), 1);
    close(ends[0]);
    close(ends[1]);
  }
  ~OtherProcess() { end(); }
  OtherProcess(const OtherProcess &) = delete;
  OtherProcess &operator=(const OtherProcess &) = delete;

  void end() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = 0;
  }

 private:
  pid_t process_;
};

}  // namespace saltern
