#pragma once
// Ends training when a number has not improved for some epochs.

#include "runtime/training/callback.h"

namespace saltern {

class EarlyStopping : public Callback {
 public:
  explicit EarlyStopping(Monitor monitor = {}, int64_t patience = 0)
      : Callback("early_stopping"), monitor_(std::move(monitor)), patience_(patience), best_(monitor_.worst()) {}

  void on_epoch_end(Trainer &trainer, int64_t epoch, const Logs &logs) override;
  std::vector<double> state() const override { return {best_, static_cast<double>(waited_)}; }
  void load_state(const std::vector<double> &state) override;

  double best() const { return best_; }

 private:
  Monitor monitor_;
  int64_t patience_, waited_ = 0;
  double best_;
};

}  // namespace saltern
