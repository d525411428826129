#pragma once
// Options of commands that train a model: its loss, its optimizer, the batch.

#include <memory>
#include <string>

#include "apps/saltern/named_losses.h"
#include "runtime/optim/optimizer.h"

namespace CLI {
class App;
}

namespace saltern {

struct TrainingOptions {
  std::string loss = "cross_entropy", optimizer = "sgd";
  double rate = 0;                         // 0: the optimizer's own
  double momentum = 0, weight_decay = -1;  // the latter less than 0: the optimizer's own
  int64_t batch = 64;
  uint64_t memory = 0;  // bytes of a step; 0: as many as it likes

  // `when` stands before what each option does.
  void add_to(CLI::App &app, const std::string &when = "With --train: ");
  const NamedLoss &named_loss() const;
  std::unique_ptr<Optimizer> optimizer_of(Module &net) const;
};

// For a command with --train: these are for nothing else.
void expect_train(const CLI::App &app, bool train);

}  // namespace saltern
