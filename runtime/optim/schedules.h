#pragma once
// Schedules of rates: pure functions of the rate that an optimizer began with and of the step, counted from 0. Those of
// torch.optim.lr_scheduler and keras.optimizers.schedules are rows of one table, which Python has as well.
//
//   Scheduler warm(adam, in_turn({schedule("LinearLR", {{"total_iters", 100}}), schedule("CosineAnnealingLR", {{"T_max", 900}})},
//                                {100}));
//   ...  adam.step();  warm.step();
//
// A lambda is a schedule:  Scheduler half(sgd, [](double base, int64_t step) { return step < 10 ? base : base / 2; });

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/optim/optimizer.h"

namespace saltern {

struct ScheduleRow {
  std::string name;  // "StepLR"; "keras.CosineDecay"
  Options options;
  std::function<double(const Attributes &, double base, double step)> at;
  bool is_absolute = false;  // the same whatever other schedules, or people, did to the rate
  const char *limit = "";  // the option that rates go to, if any: what others did stays in proportion to the way there
  std::function<double(const Attributes &, double step)> momentum = nullptr;  // null: is not moved
};

// In the order of their names; Keras' behind PyTorch's.
const std::vector<ScheduleRow> &schedule_rows();
// "StepLR", "keras.CosineDecay", or the latter without its family. Null: there is none.
const ScheduleRow *find_schedule(const std::string &name);

// The rate at a step, given the one before it: what others did to the rate stays. Options are completed().
double next_rate(const ScheduleRow &row, const Attributes &options, double base, double now, double step);

using Schedule = std::function<double(double base, int64_t step)>;
Schedule schedule(const std::string &name, const Attributes &options = {});
// One after another: the second begins at milestones[0], with step 0.
Schedule in_turn(const std::vector<Schedule> &schedules, const std::vector<int64_t> &milestones);
// All at once: what they do to the rate is multiplied.
Schedule chained(const std::vector<Schedule> &schedules);
// base f(1) f(2) ... f(step)
Schedule multiplied(const std::function<double(int64_t)> &f);

// Moves the rates of all groups of an optimizer, from the one that each has now.
class Scheduler {
 public:
  Scheduler(Optimizer &optimizer, Schedule schedule);
  // Of a row, which may move momenta (or the first of two betas), too.
  Scheduler(Optimizer &optimizer, const std::string &row, const Attributes &options = {});

  void step() { go_to(step_ + 1); }
  void go_to(int64_t step);
  int64_t steps() const { return step_; }

 private:
  Optimizer &optimizer_;
  Schedule schedule_;
  std::function<double(double step)> momentum_;
  std::vector<double> base_;
  int64_t step_ = 0;
};

// Makes rates less when a number has not become better for some time: ReduceLROnPlateau.
class Plateau {
 public:
  explicit Plateau(const Attributes &options = {});
  static const Options &options();

  // Whether the rate is to be made less now.
  bool step(double metric);
  double reduced(double rate, double least) const;
  // For all groups of an optimizer.
  void step(double metric, Optimizer &optimizer);

  // Its state.
  double best;
  int64_t bad_epochs = 0, cooling = 0;

 private:
  Attributes a_;
};

}  // namespace saltern
