#include "runtime/training/callback.h"

#include <algorithm>
#include <limits>

#include "runtime/training/early_stopping.h"
#include "runtime/training/trainer.h"

namespace saltern {

bool Monitor::is_high() const {
  if (goal != Goal::by_name) return goal == Goal::high;
  const auto is_like = [&](const std::vector<const char *> &parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const char *part) { return name.find(part) != std::string::npos; });
  };
  if (is_like({"deviance_score", "probability_score", "bouldin_score", "distortion_index"})) return false;
  return is_like({"acc",      "auc",    "auroc", "corr",        "exact_match", "explained_variance", "f1",
                  "fidelity", "index",  "iou",   "kappa",       "precision",   "predictive_value",   "quality",
                  "r2",       "recall", "score", "sensitivity", "signal",      "similarity",         "specificity"});
}

double Monitor::of(const Logs &logs) const {
  const auto it = logs.find(name);
  if (it != logs.end()) return it->second;
  std::string known;
  for (const auto &[other, value] : logs) known += (known.empty() ? "" : ", ") + other;
  fail("there is no '", name, "' to go by; there are ", known);
}

bool Monitor::is_better(double value, double than) const {
  return is_high() ? value > than + least_change : value < than - least_change;
}

double Monitor::worst() const {
  constexpr double most = std::numeric_limits<double>::max();  // not infinite: what is saved is finite
  return is_high() ? -most : most;
}

void EarlyStopping::on_epoch_end(Trainer &trainer, int64_t, const Logs &logs) {
  const double now = monitor_.of(logs);
  if (monitor_.is_better(now, best_)) {
    best_ = now;
    waited_ = 0;
  } else if (++waited_ >= patience_) {
    trainer.finish();
  }
}

void EarlyStopping::load_state(const std::vector<double> &state) {
  best_ = state.at(0);
  waited_ = static_cast<int64_t>(state.at(1));
}

}  // namespace saltern
