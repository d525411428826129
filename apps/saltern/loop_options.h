#pragma once
// Options of the loop that trains (runtime/training/trainer.h): how long, by which rate, and what is kept, logged and shown.

#include <string>
#include <vector>

#include "runtime/training/trainer.h"

namespace CLI {
class App;
}

namespace saltern {

struct LoopOptions {
  int64_t epochs = 1;
  uint64_t seed = 1;
  std::vector<std::string> schedule;  // StepLR(10, gamma=0.5); several come in turn
  std::vector<int64_t> milestones;    // between them
  bool by_steps = false;              // what schedules count; else epochs
  std::vector<std::string> metrics;   // accuracy, F1Score(task='multiclass', num_classes=10)
  double clip_norm = 0, average = 0;
  int64_t accumulate = 1, patience = 0;
  std::string checkpoints, best;
  int64_t keep = 3, checkpoint_every = 0;
  bool resume = false;
  std::vector<std::string> logs;
  int64_t statistics_every = 0;
  std::string report;

  void add_to(CLI::App &app);
  // For `steps` steps an epoch, from the rate that the optimizer has. Throws BadInput.
  TrainerOptions trainer(const Optimizer &optimizer, int64_t steps) const;
  // The callbacks that were asked for; `validates`: val_loss is there to watch.
  void add_callbacks(Trainer &trainer, bool validates, bool shows_progress) const;
};

}  // namespace saltern
