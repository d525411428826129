#include "runtime/report/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace saltern {

namespace {

constexpr auto redraw_interval = std::chrono::milliseconds(100);
constexpr int widest_bar = 30, narrowest_bar = 8, narrowest_label = 12;
constexpr const char *erase_line = "\r\x1b[K";

int columns_of(std::FILE *out) {
  winsize size = {};
  return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool unicode_locale() {
  for (const char *variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char *value = std::getenv(variable);
    if (!value || !*value) continue;  // the first that is set decides
    const std::string text = value;
    return text.find("UTF-8") != std::string::npos || text.find("utf8") != std::string::npos;
  }
  return false;
}

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

int width_of(const std::string &text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string cut(const std::string &text, int columns) {
  int width = 0;
  for (size_t i = 0; i < text.size(); ++i)
    if (begins_character(text[i]) && ++width > columns) return text.substr(0, i);
  return text;
}

std::string repeated(const char *text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

std::string right_aligned(const std::string &text, size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

std::string rate_text(double rate) {
  std::array<char, 32> text = {};
  std::snprintf(text.data(), text.size(), rate >= 100 ? "%.0f/s" : rate >= 1 ? "%.1f/s" : "%.3f/s", rate);
  return text.data();
}

}  // namespace

std::string clock_time(double seconds) {
  if (!(seconds >= 0 && seconds < 1e9)) return "?";
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  std::array<char, 32> text = {};
  if (whole >= 3600)
    std::snprintf(text.data(), text.size(), "%d:%02d:%02d", static_cast<int>(whole / 3600),
                  static_cast<int>(whole / 60 % 60), static_cast<int>(whole % 60));
  else
    std::snprintf(text.data(), text.size(), "%d:%02d", static_cast<int>(whole / 60), static_cast<int>(whole % 60));
  return text.data();
}

std::string to_string(const ProgressLine &line) {
  const int64_t total = std::max<int64_t>(line.total, 0), done = std::clamp<int64_t>(line.done, 0, total);
  const double share = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0;
  const std::string all = std::to_string(total);
  std::string label = line.label, text = line.text.empty() ? "" : "  " + line.text;
  std::string count = "  " + right_aligned(std::to_string(done), all.size()) + "/" + all, pace, left;
  if (done > 0 && line.seconds > 0) {
    const double rate = static_cast<double>(done) / line.seconds;
    pace = "  " + rate_text(rate);
    left = "  " + clock_time(static_cast<double>(total - done) / rate) + " left";
  }
  const auto numbers = [&] {
    return right_aligned(std::to_string(static_cast<int>(100 * share)), 3) + " %" + count + pace + left + text;
  };
  // Where columns are few, the bar stays, and what matters least gives way to it.
  const auto room = [&] { return line.columns - width_of(label) - width_of(numbers()) - 2; };
  for (std::string *part : {&pace, &count, &left})
    if (room() < narrowest_bar) part->clear();
  if (room() < narrowest_bar) label = cut(label, std::max(narrowest_label, width_of(label) + room() - narrowest_bar));
  if (room() < narrowest_bar) text.clear();
  const int bar = std::min(room(), widest_bar);
  std::string drawn;
  if (bar >= narrowest_bar) {
    const int full = static_cast<int>(share * bar);
    drawn = repeated(line.unicode ? "━" : "#", full) + repeated(line.unicode ? "─" : "-", bar - full) + " ";
  }
  return cut(label + " " + drawn + numbers(), line.columns);
}

Progress::Progress(std::string label, int64_t total, const ProgressOptions &options)
    : label_(std::move(label)),
      total_(total),
      out_(options.out),
      terminal_(options.terminal.value_or(isatty(fileno(options.out)) != 0)) {}

Progress::~Progress() {
  if (drawn_ && !finished_) std::fputc('\n', out_);
}

void Progress::update(int64_t done, const std::string &text) {
  if (!terminal_ || finished_) return;
  const Clock::time_point now = Clock::now();
  if (drawn_ && done < total_ && now - last_ < redraw_interval) return;
  last_ = now;
  drawn_ = true;
  ProgressLine line = {label_, text, done, total_, seconds(), columns_of(out_) - 1, unicode_locale()};
  std::fputs((erase_line + to_string(line)).c_str(), out_);
  std::fflush(out_);
}

void Progress::finish(const std::string &text) {
  if (finished_) return;
  finished_ = true;
  if (drawn_) std::fputs(erase_line, out_);
  std::fprintf(out_, "%s  %s  (%s)\n", label_.c_str(), text.c_str(), clock_time(seconds()).c_str());
  std::fflush(out_);
}

}  // namespace saltern
