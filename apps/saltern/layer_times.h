#pragma once
// Where the time of a run goes, layer by layer: recorded over several runs, as a table or as a trace.

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"

namespace saltern {

struct Layer {
  std::string name, operation;  // of the value that it makes; what it does
  Shape shape;
  double flops = 0;
};

struct LayerTime {
  Layer layer;
  double milliseconds;  // the median over the runs
  double share;         // of all layers' time
  double gflops() const { return layer.flops / (milliseconds * 1e6); }
};

class LayerTimes {
 public:
  explicit LayerTimes(std::vector<Layer> layers) : layers_(std::move(layers)) {}

  // Times one run, which calls `done()` after each layer, in their order.
  void record(const std::function<void()> &run);
  void done();

  std::vector<LayerTime> medians() const;
  // The fastest of the runs, as Chrome's tracing and Perfetto read it.
  nlohmann::ordered_json trace() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Run {
    Clock::time_point begin;
    std::vector<Clock::time_point> ends;  // of the layers
  };
  const Run &fastest() const;

  std::vector<Layer> layers_;
  std::vector<Run> runs_;
};

// Those of what a graph compiles to: operations of one kernel are one layer.
std::vector<Layer> compiled_layers_of(const Graph &graph, bool exact_convolutions);

// Columns under each other, one line a layer.
std::string table(const std::vector<LayerTime> &times);
nlohmann::ordered_json to_json(const std::vector<LayerTime> &times);

}  // namespace saltern
