#pragma once
// A progress bar with rate, time left and a text of the caller's, on one line of a terminal:
//   epoch 3/8 ━━━━━━━━━━━━────────── 58 %  544/938  1210/s  0:03 left  loss 0.312
// Where output is not a terminal there is no bar, only the line that finish() leaves.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace saltern {

struct ProgressOptions {
  std::FILE *out = stderr;
  std::optional<bool> terminal;  // unless given, whether `out` is one
};

class Progress {
 public:
  Progress(std::string label, int64_t total, const ProgressOptions &options = {});
  // Leaves the bar where it stands, on a line of its own, if finish() was not called.
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  // Cheap to call for every item: the line is drawn at most ten times a second.
  void update(int64_t done, const std::string &text = "");
  // Replaces the bar by one line: label, text and the time that passed.
  void finish(const std::string &text);

 private:
  using Clock = std::chrono::steady_clock;
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  std::string label_;
  int64_t total_;
  std::FILE *out_;
  bool terminal_, drawn_ = false, finished_ = false;
  Clock::time_point begin_ = Clock::now(), last_;
};

// The line as it is drawn, at most `columns` characters wide.
struct ProgressLine {
  std::string label, text;
  int64_t done = 0, total = 0;
  double seconds = 0;
  int columns = 80;
  bool unicode = true;
};
std::string to_string(const ProgressLine &line);

// 0:07, 12:30, 3:05:00
std::string clock_time(double seconds);

}  // namespace saltern
