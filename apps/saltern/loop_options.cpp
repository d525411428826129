#include "apps/saltern/loop_options.h"

#include <CLI/CLI.hpp>

#include "apps/saltern/command.h"
#include "runtime/nn/written_options.h"
#include "runtime/training/early_stopping.h"
#include "runtime/training/logging.h"
#include "runtime/training/plateau.h"
#include "runtime/training/progress_bar.h"
#include "runtime/training/row_metric.h"

namespace saltern {

namespace {

constexpr const char *plateau = "ReduceLROnPlateau";

std::string schedule_names() {
  std::string all = plateau;
  for (const ScheduleRow &row : schedule_rows()) all += ", " + row.name;
  return all;
}

bool is_plateau(const std::vector<std::string> &schedules) {
  return !schedules.empty() && schedules[0].substr(0, schedules[0].find('(')) == plateau;
}

Schedule schedule_of(const std::string &text) {
  const nn::WrittenCall call = nn::written_call(text);
  const ScheduleRow *row = find_schedule(call.name);
  if (!row) fail("there is no schedule '", call.name, "'; expected one of ", schedule_names());
  return schedule(row->name, nn::written_options(call, row->options));
}

std::shared_ptr<Metric> metric_of(const std::string &text) {
  const nn::WrittenCall call = nn::written_call(text);
  if (text == "accuracy") return std::make_shared<Accuracy>();
  const metrics::MetricRow *row = metrics::find_metric(call.name);
  if (!row) fail("there is no metric '", call.name, "'; docs/metrics.md has them, and accuracy");
  return row_metric(row->function().empty() ? row->name() : row->function(),
                    metrics::Metric(*row, call.positional, call.named));
}

// "--schedule StepLR(): StepLR: 'step_size' is missing"
template <typename Work>
auto on_option(const char *option, const std::string &given, const Work &work) {
  try {
    return work();
  } catch (const Error &e) {
    throw BadInput(std::string(option) + " " + given + ": " + e.what());
  }
}

}  // namespace

void LoopOptions::add_to(CLI::App &app) {
  const auto words = [&](const char *name, std::vector<std::string> &to, const std::string &what) {
    app.add_option(name, to, what)->allow_extra_args(false);
  };
  app.add_option("--epochs", epochs, "How often to go through the data")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--seed", seed,
                 "Of new parameters, of the order of samples, and of what is drawn: same seed, same bits")
      ->capture_default_str();
  words("--schedule", schedule,
        "How the rate goes on, by epochs, with PyTorch's or Keras' name: 'CosineAnnealingLR(10)', ReduceLROnPlateau. "
        "Given again, one "
        "comes behind another, at --milestones");
  app.add_option("--milestones", milestones, "Where the next schedule begins")->delimiter(',')->allow_extra_args(false);
  app.add_flag("--schedule-by-steps", by_steps, "Schedules and milestones count steps, not epochs");
  words("--metric,--metrics", metrics,
        "What is counted beside the loss: accuracy, or one of docs/metrics.md: \"F1Score(task='multiclass', "
        "num_classes=10)\". May be given again");
  app.add_option("--clip-norm", clip_norm, "Gradients whose norm is above are scaled down to it")
      ->check(CLI::PositiveNumber);
  app.add_option("--accumulate", accumulate, "So many batches make a step")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--average", average, "The decay of averages of the parameters, which are validated and written")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--patience", patience,
                 "Ends training when the loss, of validation if there is one, has not become less for so many epochs")
      ->check(CLI::Range(1, 1 << 20));
  constexpr const char *kept = "What is kept and shown";
  app.add_option("--checkpoints", checkpoints, "A folder for all that training depends on, behind every epoch")
      ->group(kept);
  app.add_flag("--resume", resume, "Go on from the last of --checkpoints, with the same bits as without the break")
      ->group(kept);
  app.add_option("--keep", keep, "The last so many checkpoints stay")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str()
      ->group(kept);
  app.add_option("--checkpoint-every", checkpoint_every, "Steps from one to the next, beside those of epochs")
      ->check(CLI::PositiveNumber)
      ->group(kept);
  app.add_option("--best", best, "A number, such as val_loss: where it is best, best.safetensors is written, too")
      ->group(kept);
  app.add_option("--log,--logs", logs, "A file (.csv, .jsonl), or else a folder for TensorBoard. May be given again")
      ->allow_extra_args(false)
      ->group(kept);
  app.add_option("--statistics-every", statistics_every,
                 "Steps from one histogram of parameters, gradients and outputs to the next, in logs")
      ->check(CLI::PositiveNumber)
      ->group(kept);
  app.add_option("--report", report, "An HTML file: curves, the confusion matrix, mistakes, filters, time by layer")
      ->group(kept);
}

TrainerOptions LoopOptions::trainer(const Optimizer &optimizer, int64_t steps) const {
  TrainerOptions o;
  o.epochs = epochs;
  o.seed = seed;
  o.clip_norm = clip_norm;
  o.accumulate = accumulate;
  o.average = average;
  o.checkpoints = {checkpoints, keep, checkpoint_every, best, resume};
  if (resume && checkpoints.empty()) throw BadInput("--resume: --checkpoints says from where");
  if (!best.empty() && checkpoints.empty()) throw BadInput("--best: --checkpoints says where to");
  for (const std::string &m : metrics) {
    o.metrics.push_back(on_option("--metric", m, [&] { return metric_of(m); }));
    for (size_t i = 0; i + 1 < o.metrics.size(); ++i)
      if (o.metrics[i]->name() == o.metrics.back()->name()) throw BadInput("--metric " + m + " is there twice");
  }
  if (schedule.empty()) {
    if (!milestones.empty()) throw BadInput("--milestones are between several of --schedule");
    return o;
  }
  if (is_plateau(schedule)) {
    if (schedule.size() > 1) throw BadInput(std::string("--schedule ") + plateau + " stands alone");
    return o;
  }
  std::vector<Schedule> all;
  for (const std::string &s : schedule) all.push_back(on_option("--schedule", s, [&] { return schedule_of(s); }));
  o.rate = [of = on_option("--milestones", "", [&] { return in_turn(all, milestones); }), base = optimizer.rate(),
            every = by_steps ? int64_t{1} : steps](int64_t step) { return of(base, step / every); };
  return o;
}

void LoopOptions::add_callbacks(Trainer &trainer, bool validates, bool shows_progress) const {
  const std::string watched = validates ? "val_loss" : "loss";
  if (patience > 0) trainer.add(std::make_shared<EarlyStopping>(Monitor{watched}, patience));
  if (is_plateau(schedule))
    trainer.add(on_option("--schedule", schedule[0], [&] {
      const nn::WrittenCall call = nn::written_call(schedule[0]);
      return std::make_shared<ReduceOnPlateau>(watched, nn::written_options(call, Plateau::options()));
    }));
  for (const std::string &path : logs)
    trainer.add(std::make_shared<Logging>(path, LoggingOptions{1, statistics_every}));
  if (shows_progress) trainer.add(std::make_shared<ProgressBar>());
}

}  // namespace saltern
