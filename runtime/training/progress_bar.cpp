#include "runtime/training/progress_bar.h"

#include "runtime/training/trainer.h"

namespace saltern {

namespace {

std::string number(const std::string &name, double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%s %.4g", name.c_str(), value);
  return text;
}

}  // namespace

void ProgressBar::on_step_end(Trainer &trainer, int64_t step, const Logs &logs) {
  const int64_t total = trainer.steps_an_epoch();
  if (!progress_)
    progress_ = std::make_unique<Progress>(
        "epoch " + std::to_string(trainer.epoch() + 1) + "/" + std::to_string(trainer.options().epochs), total,
        options_);
  progress_->update(step - trainer.epoch() * total, number("loss", logs.at("loss")));
}

void ProgressBar::on_epoch_end(Trainer &, int64_t, const Logs &logs) {
  std::string text;
  for (const auto &[name, value] : logs) text += (text.empty() ? "" : "  ") + number(name, value);
  if (progress_) progress_->finish(text);
  progress_.reset();
}

void ProgressBar::on_train_end(Trainer &trainer) {
  if (progress_) progress_->finish("stopped after " + std::to_string(trainer.step()) + " steps");
  progress_.reset();
}

}  // namespace saltern
