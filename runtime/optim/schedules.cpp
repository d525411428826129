#include "runtime/optim/schedules.h"

#include <algorithm>

namespace saltern {

const ScheduleRow *find_schedule(const std::string &name) {
  for (const ScheduleRow &row : schedule_rows())
    if (row.name == name || row.name == "keras." + name) return &row;
  return nullptr;
}

double next_rate(const ScheduleRow &row, const Attributes &a, double base, double now, double step) {
  const double next = row.at(a, base, step);
  if (row.is_absolute) return next;
  const double limit = *row.limit ? a.real(row.limit) : 0, before = step == 0 ? base : row.at(a, base, step - 1);
  return before == limit ? now + next - limit : limit + (now - limit) * ((next - limit) / (before - limit));
}

namespace {

const ScheduleRow &row_named(const std::string &name) {
  const ScheduleRow *row = find_schedule(name);
  if (!row) fail("there is no schedule '", name, "'");
  return *row;
}

}  // namespace

Schedule schedule(const std::string &name, const Attributes &options) {
  const ScheduleRow &row = row_named(name);
  return [&row, a = completed(row.name, row.options, options)](double base, int64_t step) {
    return row.at(a, base, static_cast<double>(step));
  };
}

Schedule in_turn(const std::vector<Schedule> &schedules, const std::vector<int64_t> &milestones) {
  if (schedules.size() != milestones.size() + 1)
    fail("schedules in turn: ", milestones.size(), " milestones are between ", schedules.size(), " schedules");
  return [=](double base, int64_t step) {
    const auto past = std::upper_bound(milestones.begin(), milestones.end(), step);
    const auto turn = static_cast<size_t>(past - milestones.begin());
    return schedules[turn](base, turn == 0 ? step : step - milestones[turn - 1]);
  };
}

Schedule chained(const std::vector<Schedule> &schedules) {
  return [=](double base, int64_t step) {
    double rate = base;
    for (const Schedule &s : schedules) rate *= s(base, step) / base;
    return rate;
  };
}

Schedule multiplied(const std::function<double(int64_t)> &f) {
  return [=](double base, int64_t step) {
    for (int64_t i = 1; i <= step; ++i) base *= f(i);
    return base;
  };
}

Scheduler::Scheduler(Optimizer &optimizer, Schedule schedule) : optimizer_(optimizer), schedule_(std::move(schedule)) {
  for (size_t g = 0; g < optimizer.group_count(); ++g) base_.push_back(optimizer.rate(g));
  go_to(0);
}

Scheduler::Scheduler(Optimizer &optimizer, const std::string &name, const Attributes &options)
    : Scheduler(optimizer, schedule(name, options)) {
  const ScheduleRow &row = row_named(name);
  const Attributes a = completed(row.name, row.options, options);
  if (row.momentum && a.integer("cycle_momentum") != no)
    momentum_ = [&row, a](double step) { return row.momentum(a, step); };
  go_to(0);
}

void Scheduler::go_to(int64_t step) {
  step_ = step;
  for (size_t g = 0; g < base_.size(); ++g) {
    optimizer_.set_rate(g, schedule_(base_[g], step));
    if (!momentum_) continue;
    const double momentum = momentum_(static_cast<double>(step));
    const Attributes &a = optimizer_.update(g).attributes;
    if (a.has("betas"))
      optimizer_.set_option(g, "betas", Reals{momentum, a.reals("betas").at(1)});
    else
      optimizer_.set_option(g, "momentum", momentum);
  }
}

const Options &Plateau::options() {
  static const Options all = {{"mode", "min"},           {"factor", 0.1, 0, 1}, {"patience", 10.0}, {"threshold", 1e-4},
                              {"threshold_mode", "rel"}, {"cooldown", 0.0},     {"min_lr", 0.0},    {"eps", 1e-8}};
  return all;
}

Plateau::Plateau(const Attributes &given) : a_(completed("ReduceLROnPlateau", options(), given)) {
  for (const auto &[name, first, second] :
       {std::tuple("mode", "min", "max"), std::tuple("threshold_mode", "rel", "abs")})
    if (const std::string &word = a_.word(name); word != first && word != second)
      fail("ReduceLROnPlateau: '", name, "' is '", word, "'; expected ", first, " or ", second);
  best = a_.word("mode") == "min" ? infinite : -infinite;
}

bool Plateau::step(double metric) {
  const double sign = a_.word("mode") == "min" ? -1 : 1, threshold = a_.real("threshold");
  const double than = a_.word("threshold_mode") == "rel" ? best * (1 + sign * threshold) : best + sign * threshold;
  if (sign * metric > sign * than) {
    best = metric;
    bad_epochs = 0;
  } else {
    ++bad_epochs;
  }
  if (cooling > 0) {
    --cooling;
    bad_epochs = 0;
  }
  if (static_cast<double>(bad_epochs) <= a_.real("patience")) return false;
  cooling = static_cast<int64_t>(a_.real("cooldown"));
  bad_epochs = 0;
  return true;
}

double Plateau::reduced(double rate, double least) const {
  const double next = std::max(rate * a_.real("factor"), least);
  return rate - next > a_.real("eps") ? next : rate;
}

void Plateau::step(double metric, Optimizer &optimizer) {
  if (!step(metric)) return;
  for (size_t g = 0; g < optimizer.group_count(); ++g)
    optimizer.set_rate(g, reduced(optimizer.rate(g), a_.real("min_lr")));
}

}  // namespace saltern
