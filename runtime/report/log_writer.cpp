#include "runtime/report/log_writer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/data/png.h"
#include "runtime/files/file.h"
#include "runtime/graph/text.h"
#include "runtime/report/base64.h"

namespace saltern {

double Histogram::deviation() const {
  return count > 0 ? std::sqrt(std::max(0.0, sum_of_squares / count - mean() * mean())) : 0;
}

Histogram histogram_of(const Tensor &values, int buckets) {
  Histogram h;
  std::vector<double> all = values.reals();
  all.erase(std::remove_if(all.begin(), all.end(), [](double v) { return !std::isfinite(v); }), all.end());
  if (all.empty()) return h;
  const auto [low, high] = std::minmax_element(all.begin(), all.end());
  h.least = *low;
  h.largest = *high;
  h.count = static_cast<double>(all.size());
  const double width = h.largest > h.least ? (h.largest - h.least) / buckets : 1;
  for (int i = 0; i <= buckets; ++i) h.edges.push_back(i == buckets && width != 1 ? h.largest : h.least + i * width);
  h.counts.assign(static_cast<size_t>(buckets), 0);
  for (const double v : all) {
    h.sum += v;
    h.sum_of_squares += v * v;
    ++h.counts[std::min(static_cast<size_t>((v - h.least) / width), h.counts.size() - 1)];
  }
  return h;
}

namespace {

// Lines at the end of a file, whose step `step_of` tells; -1: it belongs to none.
class Lines {
 public:
  Lines(std::string path, int64_t behind, int64_t (*step_of)(const std::string &line)) : path_(std::move(path)) {
    const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
    std::error_code ignored;
    if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
    std::string kept;
    std::ifstream in(path_);
    // The last line of a process that was killed may be a part of one: its end is missing.
    for (std::string line; std::getline(in, line) && !in.eof();)
      if (step_of(line) <= behind) kept += line + "\n";
    in.close();
    write_atomically(path_, kept);
    is_empty_ = kept.empty();
    out_ = std::fopen(path_.c_str(), "ab");
    if (!out_) throw FileError("cannot write " + path_);
  }
  ~Lines() { std::fclose(out_); }
  Lines(const Lines &) = delete;
  Lines &operator=(const Lines &) = delete;

  bool is_empty() const { return is_empty_; }
  void add(const std::string &line) {
    if (std::fputs((line + "\n").c_str(), out_) < 0) throw FileError("cannot write " + path_);
  }
  void flush() {
    if (std::fflush(out_) != 0) throw FileError("cannot write " + path_);
  }

 private:
  std::string path_;
  std::FILE *out_ = nullptr;
  bool is_empty_ = true;
};

std::string exactly(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", v);
  return text;
}

class CsvLog : public LogWriter {
 public:
  CsvLog(const std::string &path, int64_t behind)
      : lines_(path, behind,
               [](const std::string &line) -> int64_t { return std::strtoll(line.c_str(), nullptr, 10); }) {
    if (lines_.is_empty()) lines_.add("step,name,value");
  }
  void scalar(const std::string &name, int64_t step, double value) override {
    lines_.add(std::to_string(step) + "," + quoted(name) + "," + exactly(value));
  }
  void histogram(const std::string &name, int64_t step, const Histogram &h) override {
    scalar(name + "/mean", step, h.mean());
    scalar(name + "/deviation", step, h.deviation());
    scalar(name + "/least", step, h.least);
    scalar(name + "/largest", step, h.largest);
  }
  void picture(const std::string &, int64_t, const Tensor &) override {}  // no number
  void graph(const Graph &) override {}
  void flush() override { lines_.flush(); }

 private:
  static std::string quoted(const std::string &text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string all = "\"";
    for (const char c : text) all += c == '"' ? std::string("\"\"") : std::string(1, c);
    return all + "\"";
  }

  Lines lines_;
};

using nlohmann::ordered_json;

class JsonLog : public LogWriter {
 public:
  JsonLog(const std::string &path, int64_t behind) : lines_(path, behind, step_of) {}
  void scalar(const std::string &name, int64_t step, double value) override {
    // JSON has no infinities.
    add(name, step, "value", std::isfinite(value) ? ordered_json(value) : ordered_json(exactly(value)));
  }
  void histogram(const std::string &name, int64_t step, const Histogram &h) override {
    add(name, step, "histogram",
        {{"mean", h.mean()}, {"deviation", h.deviation()}, {"edges", h.edges}, {"counts", h.counts}});
  }
  void picture(const std::string &name, int64_t step, const Tensor &pixels) override {
    add(name, step, "png", base64(encode_png(pixels)));
  }
  void graph(const Graph &graph) override { add("graph", 0, "text", to_text(graph)); }
  void flush() override { lines_.flush(); }

 private:
  static int64_t step_of(const std::string &line) {
    const ordered_json parsed = ordered_json::parse(line, nullptr, false);
    return parsed.is_object() ? parsed.value("step", int64_t{-1}) : -1;
  }
  void add(const std::string &name, int64_t step, const char *kind, const ordered_json &value) {
    lines_.add(ordered_json{{"step", step}, {"name", name}, {kind, value}}.dump(
        -1, ' ', false, ordered_json::error_handler_t::replace));
  }

  Lines lines_;
};

}  // namespace

std::unique_ptr<LogWriter> open_csv_log(const std::string &path, int64_t behind) {
  return std::make_unique<CsvLog>(path, behind);
}
std::unique_ptr<LogWriter> open_json_log(const std::string &path, int64_t behind) {
  return std::make_unique<JsonLog>(path, behind);
}

std::unique_ptr<LogWriter> open_log(const std::string &path, int64_t behind) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return (ending == ".csv" ? open_csv_log : ending == ".jsonl" ? open_json_log : open_event_log)(path, behind);
}

}  // namespace saltern
