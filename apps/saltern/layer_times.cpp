#include "apps/saltern/layer_times.h"

#include <algorithm>
#include <cstdio>

#include "generators/model/model_plan.h"
#include "runtime/error.h"

namespace saltern {

namespace {

using Json = nlohmann::ordered_json;

template <typename Duration>
double in(std::chrono::steady_clock::duration d) {
  return std::chrono::duration<double, Duration>(d).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::vector<Layer> compiled_layers_of(const Graph &graph, bool exact_convolutions) {
  std::vector<Layer> layers;
  for (const generators::PlannedStep &s : generators::plan_model(graph, exact_convolutions).steps) {
    std::string operations;
    for (const std::string &o : s.operations) operations += (operations.empty() ? "" : " + ") + o;
    layers.push_back({s.value, operations, s.shape, s.flops});
  }
  return layers;
}

void LayerTimes::record(const std::function<void()> &run) {
  runs_.push_back({Clock::now(), {}});
  runs_.back().ends.reserve(layers_.size());
  runs_.back().begin = Clock::now();
  run();
  if (runs_.back().ends.size() != layers_.size())
    fail(runs_.back().ends.size(), " layers were timed; the model has ", layers_.size());
}

void LayerTimes::done() { runs_.back().ends.push_back(Clock::now()); }

std::vector<LayerTime> LayerTimes::medians() const {
  std::vector<LayerTime> all;
  double sum = 0;
  for (size_t i = 0; i < layers_.size(); ++i) {
    std::vector<double> times;
    for (const Run &r : runs_) times.push_back(in<std::milli>(r.ends[i] - (i == 0 ? r.begin : r.ends[i - 1])));
    all.push_back({layers_[i], median(times), 0});
    sum += all.back().milliseconds;
  }
  for (LayerTime &t : all) t.share = sum > 0 ? t.milliseconds / sum : 0;
  return all;
}

const LayerTimes::Run &LayerTimes::fastest() const {
  const auto length = [](const Run &r) { return r.ends.empty() ? Clock::duration::zero() : r.ends.back() - r.begin; };
  return *std::min_element(runs_.begin(), runs_.end(),
                           [&](const Run &a, const Run &b) { return length(a) < length(b); });
}

Json LayerTimes::trace() const {
  const Run &r = fastest();
  Json events = Json::array();
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer &layer = layers_[i];
    const Clock::time_point begin = i == 0 ? r.begin : r.ends[i - 1];
    const double microseconds = in<std::micro>(r.ends[i] - begin);
    Json about = {{"value", layer.name}, {"shape", to_string(layer.shape)}};
    if (layer.flops > 0) about["gflops"] = layer.flops / (microseconds * 1e3);
    events.push_back({{"name", layer.operation},
                      {"cat", "layer"},
                      {"ph", "X"},  // an event with a beginning and a duration
                      {"ts", in<std::micro>(begin - r.begin)},
                      {"dur", microseconds},
                      {"pid", 1},
                      {"tid", 1},
                      {"args", about}});
  }
  return {{"traceEvents", events}, {"displayTimeUnit", "ms"}};
}

std::string table(const std::vector<LayerTime> &times) {
  constexpr size_t widest = 48;
  size_t name = 5, operation = 9;
  for (const LayerTime &t : times) {
    name = std::max(name, std::min(widest, t.layer.name.size()));
    operation = std::max(operation, std::min(widest, t.layer.operation.size()));
  }
  const auto wide = [](size_t n) { return static_cast<int>(n); };
  char line[400];
  std::snprintf(line, sizeof line, "%-*s  %-*s %10s %7s %8s\n", wide(name), "layer", wide(operation), "operation", "ms",
                "share", "GF/s");
  std::string text = line;
  for (const LayerTime &t : times) {
    std::snprintf(line, sizeof line, "%-*.*s  %-*.*s %10.4f %5.1f %%", wide(name), wide(widest), t.layer.name.c_str(),
                  wide(operation), wide(widest), t.layer.operation.c_str(), t.milliseconds, 100 * t.share);
    text += line;
    if (t.layer.flops > 0) {
      std::snprintf(line, sizeof line, " %8.1f", t.gflops());
      text += line;
    }
    text += '\n';
  }
  return text;
}

Json to_json(const std::vector<LayerTime> &times) {
  Json rows = Json::array();
  for (const LayerTime &t : times)
    rows.push_back({{"name", t.layer.name},
                    {"operation", t.layer.operation},
                    {"shape", t.layer.shape},
                    {"ms", t.milliseconds},
                    {"share", t.share},
                    {"gflops", t.gflops()}});
  return rows;
}

}  // namespace saltern
