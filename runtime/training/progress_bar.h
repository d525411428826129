#pragma once
// How far an epoch is, on a terminal, and a line for each that is done (runtime/report/progress.h).

#include <memory>

#include "runtime/report/progress.h"
#include "runtime/training/callback.h"

namespace saltern {

class ProgressBar : public Callback {
 public:
  explicit ProgressBar(ProgressOptions options = {}) : Callback("progress_bar"), options_(options) {}

  void on_step_end(Trainer &trainer, int64_t step, const Logs &logs) override;
  void on_epoch_end(Trainer &trainer, int64_t epoch, const Logs &logs) override;
  void on_train_end(Trainer &trainer) override;

 private:
  ProgressOptions options_;
  std::unique_ptr<Progress> progress_;
};

}  // namespace saltern
