#pragma once
// Metrics with the names and options of torchmetrics and Keras: rows of one table, which C++ and Python have.
//
//   Metric accuracy = metric("Accuracy", {{"task", "multiclass"}, {"num_classes", 10}});
//   for (...) accuracy.update(net(images), labels);
//   accuracy.value();                       // 0.93, a double; compute() gives tensors, of whatever shape
//   accuracy.merge(that_of_another_part);   // the same as if both had seen all
//   checkpoint.tensors = accuracy.state();  // accuracy.set_state(...) goes on from there
//
// A row says what a batch adds to the state, sums or lists by name, and what the value of a state is. So the value of a
// batch, of all batches, and of parts that were computed elsewhere are the same two functions:
//
//   const MetricRow mean("MeanMetric", "", "nan_strategy='warn'", "value, weight=None",
//       [](const Arguments &options, const Arguments &in) { State s; s.sum("value", ...); return s; },
//       [](const Arguments &options, const State &s) { return result(s["value"][0] / s["weight"][0]); });
//
// Sums are f64. A metric that was never updated has the value NaN.

#include <functional>
#include <map>

#include "runtime/metrics/numbers.h"

namespace saltern::metrics {

using nn::Named;
using nn::Signature;

// Named numbers, each with the way that those of two batches become one.
class State {
 public:
  void sum(const std::string &name, Numbers n) { put("sum", name, std::move(n)); }
  void most(const std::string &name, Numbers n) { put("max", name, std::move(n)); }
  void least(const std::string &name, Numbers n) { put("min", name, std::move(n)); }
  // One behind another, along the first dimension.
  void list(const std::string &name, Numbers n) { put("list", name, std::move(n)); }
  // Means, deviations and their products (runtime/metrics/moments.h).
  void moments(const std::string &name, Numbers n) { put("moments", name, std::move(n)); }

  const Numbers &operator[](const std::string &name) const;
  bool is_empty() const { return all_.empty(); }
  void merge(const std::string &owner, const State &other);

  // By names such as "sum.tp".
  std::map<std::string, Tensor> tensors() const;
  static State of(const std::string &owner, const std::map<std::string, Tensor> &tensors);

 private:
  struct Entry {
    std::string how;
    Numbers numbers;
  };
  void put(const char *how, const std::string &name, Numbers n) { all_[name] = {how, std::move(n)}; }

  std::map<std::string, Entry> all_;
};

class MetricRow {
 public:
  using Statistics = std::function<State(const Arguments &options, const Arguments &in)>;
  using Value = std::function<Argument(const Arguments &options, const State &)>;
  // Refuses options that do not fit.
  using Check = std::function<void(const Arguments &options)>;
  // The row that another stands for, and its options.
  using Choice = std::function<std::pair<std::string, Named>(const Arguments &options)>;

  // Adds itself to the table; it must live as long as the program, at namespace scope. `function` is its name as a function of
  // tensors, which takes what it is updated with and then its options, or what `called_with` says, which leaves some out, and
  // gives what `called` says, where that is another than the value; it has none where `function` is empty.
  MetricRow(std::string name, std::string function, const std::string &made_with, const std::string &updated_with,
            Statistics statistics, Value value, Check check = nullptr, const std::string &called_with = "",
            Value called = nullptr);
  // One that is others, by its options: Accuracy(task='binary') is BinaryAccuracy().
  MetricRow(std::string name, std::string function, const std::string &made_with, const std::string &updated_with,
            Choice choice);
  MetricRow(const MetricRow &) = delete;
  MetricRow &operator=(const MetricRow &) = delete;

  const std::string &name() const { return name_; }
  const std::string &function() const { return function_; }
  const Signature &made_with() const { return made_with_; }
  const Signature &updated_with() const { return updated_with_; }
  // The function's.
  const Signature &called_with() const { return called_with_; }
  Argument call(const std::vector<Argument> &positional, const Named &named = {}) const;

 private:
  friend class Metric;
  std::string name_, function_;
  Signature made_with_, updated_with_, called_with_;
  Statistics statistics_;
  Value value_, called_;
  Check check_;
  Choice choice_;
};

// By its name or its function's; null where there is none.
const MetricRow *find_metric(std::string_view name);
std::vector<const MetricRow *> all_metrics();

class Metric {
 public:
  Metric(const MetricRow &row, const std::vector<Argument> &positional, const Named &named = {});

  const std::string &name() const { return row_->name(); }
  const MetricRow &row() const { return *row_; }
  const Arguments &options() const { return options_; }
  bool is_updated() const { return !state_.is_empty(); }

  void update(const std::vector<Argument> &positional, const Named &named = {});
  // The same of two, as most have: preds and target, or Keras' y_true and y_pred.
  void update(const Argument &first, const Argument &second) { update(std::vector<Argument>{first, second}); }
  // Updates, and gives the value of this batch alone.
  Argument step(const std::vector<Argument> &positional, const Named &named = {});
  Argument compute() const;
  // As a function gives it.
  Argument called() const;
  // Where it is one number.
  double value() const;
  void reset() { state_ = {}; }
  // From here on, this one has seen what the other has, too, which has to be of the same row.
  void merge(const Metric &other);
  std::map<std::string, Tensor> state() const { return state_.tensors(); }
  void set_state(const std::map<std::string, Tensor> &tensors) { state_ = State::of(name(), tensors); }

 private:
  State statistics(const std::vector<Argument> &positional, const Named &named) const;

  const MetricRow *row_;
  Arguments options_;
  State state_;
};

Metric metric(std::string_view name, const Named &options = {});

// Names something of every file with rows: of a static library, programs get those files only that something names.
const void *families();

}  // namespace saltern::metrics
