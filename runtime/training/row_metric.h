#pragma once
// Metrics of the table (runtime/metrics/metric.h) as a Trainer takes them; a program that has one links Saltern::metrics.
//
//   options.metrics = {row_metric("f1", metrics::metric("F1Score", {{"task", "multiclass"}, {"num_classes", 10}}))};
//
// What the net says comes first, as torchmetrics has it, and then what it should have said.

#include <memory>

#include "runtime/metrics/metric.h"
#include "runtime/training/metric.h"

namespace saltern {

class RowMetric : public Metric {
 public:
  RowMetric(std::string name, metrics::Metric metric) : Metric(std::move(name)), metric_(std::move(metric)) {}

  void update(const Tensor &prediction, const Tensor &target) override {
    metric_.update({Variable(prediction), Variable(target)});
  }
  double value() const override { return metric_.value(); }
  void reset() override { metric_.reset(); }
  std::map<std::string, Tensor> state() const override { return metric_.state(); }
  void load_state(const std::map<std::string, Tensor> &state) override {
    state.empty() ? metric_.reset() : metric_.set_state(state);
  }

 private:
  metrics::Metric metric_;
};

inline std::shared_ptr<Metric> row_metric(std::string name, metrics::Metric metric) {
  return std::make_shared<RowMetric>(std::move(name), std::move(metric));
}

}  // namespace saltern
