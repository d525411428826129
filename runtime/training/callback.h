#pragma once
// What is to happen while a net is trained (trainer.h): saving, stopping, logging, drawing.
//
//   struct Halve : Callback {
//     Halve() : Callback("halve") {}
//     void on_epoch_end(Trainer &t, int64_t, const Logs &) override { t.optimizer().set_rate(t.optimizer().rate() / 2); }
//   };

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace saltern {

class Trainer;

// Numbers by name: loss, accuracy, val_loss, val_accuracy, rate.
using Logs = std::map<std::string, double>;

class Callback {
 public:
  explicit Callback(std::string name) : name_(std::move(name)) {}
  virtual ~Callback() = default;

  const std::string &name() const { return name_; }
  virtual void on_train_begin(Trainer &) {}
  virtual void on_epoch_begin(Trainer &, int64_t /*epoch*/) {}
  // Gradients are there, and the parameters as they were: behind it, they are updated.
  virtual void on_gradients(Trainer &) {}
  // `step` steps were taken.
  virtual void on_step_end(Trainer &, int64_t /*step*/, const Logs &) {}
  virtual void on_epoch_end(Trainer &, int64_t /*epoch*/, const Logs &) {}
  virtual void on_train_end(Trainer &) {}

  // What it has to know when training is resumed: a part of checkpoints, under its name.
  virtual std::vector<double> state() const { return {}; }
  virtual void load_state(const std::vector<double> &) {}

 private:
  std::string name_;
};

// One of functions: those that are given are called.
struct Functions : Callback {
  Functions() : Callback("functions") {}
  std::function<void(Trainer &, int64_t step, const Logs &)> step_end;
  std::function<void(Trainer &, int64_t epoch, const Logs &)> epoch_end;

  void on_step_end(Trainer &t, int64_t step, const Logs &logs) override {
    if (step_end) step_end(t, step, logs);
  }
  void on_epoch_end(Trainer &t, int64_t epoch, const Logs &logs) override {
    if (epoch_end) epoch_end(t, epoch, logs);
  }
};

// A number of the logs that is to become lower, or higher.
struct Monitor {
  enum class Goal { by_name, low, high };

  std::string name = "val_loss";
  double least_change = 0;    // what is less is no improvement
  Goal goal = Goal::by_name;  // accuracies and their like are to be high, all else low

  // Throws where the logs have no such number.
  double of(const Logs &logs) const;
  bool is_better(double value, double than) const;
  bool is_high() const;
  // What everything is better than.
  double worst() const;
};

}  // namespace saltern
