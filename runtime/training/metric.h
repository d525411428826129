#pragma once
// What is counted over the batches of an epoch beside the loss: one number in the end. Metrics with torchmetrics' names are in
// row_metric.h.
//
//   struct Largest : Metric { ... };              // a metric of one's own
//   Accuracy right;  right.update(scores, labels);  right.value();

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/autograd/variable.h"

namespace saltern {

class Metric {
 public:
  explicit Metric(std::string name) : name_(std::move(name)) {}
  virtual ~Metric() = default;

  const std::string &name() const { return name_; }
  // Counts a batch: what the net said of it, and what it should have said.
  virtual void update(const Tensor &prediction, const Tensor &target) = 0;
  virtual double value() const = 0;
  virtual void reset() = 0;

  // What was counted so far, for checkpoints within an epoch. Whoever leaves it out counts only what comes behind a resume.
  virtual std::map<std::string, Tensor> state() const { return {}; }
  virtual void load_state(const std::map<std::string, Tensor> &) {}

 private:
  std::string name_;
};

// A mean of values, each with a weight; 0 of none.
struct Mean {
  double sum = 0, weight = 0;

  void add(double value, double of) {
    sum += value * of;
    weight += of;
  }
  double value() const { return weight > 0 ? sum / weight : 0; }
};

// A metric that is a mean over samples of what a batch's is.
class MeanMetric : public Metric {
 public:
  using OfBatch = std::function<double(const Tensor &prediction, const Tensor &target)>;

  MeanMetric(std::string name, OfBatch of_batch) : Metric(std::move(name)), of_batch_(std::move(of_batch)) {}
  void update(const Tensor &prediction, const Tensor &target) override;
  double value() const override { return mean_.value(); }
  void reset() override { mean_ = {}; }
  std::map<std::string, Tensor> state() const override;
  void load_state(const std::map<std::string, Tensor> &state) override;

 private:
  OfBatch of_batch_;
  Mean mean_;
};

// The part of the samples whose largest score is that of their label.
struct Accuracy : MeanMetric {
  explicit Accuracy(std::string name = "accuracy");
};

struct MeanLoss : MeanMetric {
  using Loss = std::function<Variable(const Variable &prediction, const Variable &target)>;
  explicit MeanLoss(const Loss &loss, std::string name = "loss");
};

}  // namespace saltern
