#pragma once
// Makes the rate less when a number has not become better for some epochs: torch.optim's ReduceLROnPlateau as a callback.

#include <algorithm>
#include <limits>

#include "runtime/optim/schedules.h"
#include "runtime/training/trainer.h"

namespace saltern {

class ReduceOnPlateau : public Callback {
 public:
  explicit ReduceOnPlateau(std::string monitored = "val_loss", const Attributes &options = {})
      : Callback("plateau"), monitored_{std::move(monitored)}, plateau_(options) {}

  void on_epoch_end(Trainer &trainer, int64_t, const Logs &logs) override {
    plateau_.step(monitored_.of(logs), trainer.optimizer());
  }
  std::vector<double> state() const override {
    constexpr double most = std::numeric_limits<double>::max();  // infinite numbers are no part of checkpoints
    return {std::clamp(plateau_.best, -most, most), static_cast<double>(plateau_.bad_epochs),
            static_cast<double>(plateau_.cooling)};
  }
  void load_state(const std::vector<double> &s) override {
    plateau_.best = s[0];
    plateau_.bad_epochs = static_cast<int64_t>(s[1]);
    plateau_.cooling = static_cast<int64_t>(s[2]);
  }

 private:
  Monitor monitored_;
  Plateau plateau_;
};

}  // namespace saltern
