// Progress is drawn on terminals only, never wider than they are, and says what it measured.

#include "runtime/report/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/scratch_folder.h"

namespace saltern {
namespace {

// What an action writes to a file that is taken, or not, for a terminal.
template <typename Action>
std::string written(bool terminal, const Action &action) {
  std::FILE *file = std::tmpfile();
  ProgressOptions options;
  options.out = file;
  options.terminal = terminal;
  action(options);
  std::string text(static_cast<size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  EXPECT_EQ(std::fread(text.data(), 1, text.size(), file), text.size());
  std::fclose(file);
  return text;
}

int width(const std::string &text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

TEST(ProgressLine, TellsShareRateAndTimeLeft) {
  ProgressLine line = {"epoch 3/8", "loss 0.31", 250, 1000, 5, 100, false};
  const std::string text = to_string(line);
  for (const char *part : {"epoch 3/8", "25 %", "250/1000", "50.0/s", "0:15 left", "loss 0.31"})
    EXPECT_TRUE(contains(text, part));
  EXPECT_EQ(std::count(text.begin(), text.end(), '#'), 7);
  EXPECT_EQ(std::count(text.begin(), text.end(), '-'), 23);
}

TEST(ProgressLine, NeverExceedsItsColumns) {
  for (bool unicode : {false, true})
    for (int columns = 1; columns < 120; ++columns) {
      const ProgressLine line = {"größe", "loss 0.31 größe ∂", 333, 1000, 5, columns, unicode};
      EXPECT_LE(width(to_string(line)), columns);
    }
}

TEST(ProgressLine, KeepsItsBarWhereColumnsAreFew) {
  // As `saltern tune` draws it.
  for (int columns : {100, 79, 60, 40}) {
    const ProgressLine line = {
        "conv2d 3x3 64->64 @56 padding 1 forward", "best 92.3 % of peak, 0 failed", 20, 40, 16.7, columns, true};
    const std::string text = to_string(line);
    EXPECT_LE(width(text), columns);
    EXPECT_TRUE(contains(text, "━━━━────")) << columns;
    EXPECT_TRUE(contains(text, "50 %")) << columns;
    EXPECT_TRUE(contains(text, "conv2d")) << columns;
    if (columns >= 60) {
      EXPECT_TRUE(contains(text, "best 92.3 %")) << columns;
    }
  }
}

TEST(ProgressLine, SurvivesNonsense) {
  for (int64_t done : {std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{0}, int64_t{5}})
    for (int64_t total : {std::numeric_limits<int64_t>::min(), int64_t{0}, int64_t{3}})
      for (double seconds : {-1.0, 0.0, 1e-300, 1e300, std::nan("")}) {
        const ProgressLine line = {"x", "", done, total, seconds, 80, false};
        EXPECT_LE(width(to_string(line)), 80);
      }
}

TEST(ProgressLine, TimesReadAsOnAClock) {
  EXPECT_EQ(clock_time(0), "0:00");
  EXPECT_EQ(clock_time(7.4), "0:07");
  EXPECT_EQ(clock_time(59.6), "1:00");
  EXPECT_EQ(clock_time(11105), "3:05:05");
  EXPECT_EQ(clock_time(std::nan("")), "?");
}

TEST(Progress, WithoutATerminalOnlyTheResultIsWritten) {
  const std::string text = written(false, [](const ProgressOptions &options) {
    Progress p("epoch 1/2", 100, options);
    for (int i = 0; i <= 100; ++i) p.update(i, "loss");
    p.finish("accuracy 91.2 %");
  });
  EXPECT_EQ(text, "epoch 1/2  accuracy 91.2 %  (0:00)\n");
  EXPECT_EQ(written(false, [](const ProgressOptions &options) { Progress("quiet", 3, options).update(1); }), "");
}

TEST(Progress, OnATerminalTheBarIsRedrawnSeldomAndReplacedAtTheEnd) {
  const std::string text = written(true, [](const ProgressOptions &options) {
    Progress p("epoch 1/2", 100000, options);
    for (int i = 1; i <= 100000; ++i) p.update(i, "loss");
    p.finish("done");
  });
  EXPECT_TRUE(contains(text, "100 %"));
  EXPECT_LT(std::count(text.begin(), text.end(), '\r'), 100);
  const std::string end = "\r\x1b[Kepoch 1/2  done  (0:00)\n";
  ASSERT_GT(text.size(), end.size());
  EXPECT_EQ(text.substr(text.size() - end.size()), end);
}

TEST(Progress, AnAbandonedBarEndsItsLine) {
  const std::string text =
      written(true, [](const ProgressOptions &options) { Progress("stopped", 10, options).update(3); });
  EXPECT_EQ(text.back(), '\n');
}

}  // namespace
}  // namespace saltern
