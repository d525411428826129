#include "runtime/training/logging.h"

#include "runtime/training/trainer.h"

namespace saltern {

// Whether the step that is being taken is one whose statistics are logged.
bool Logging::is_due(const Trainer &trainer) const {
  return options_.statistics_every_steps > 0 && (trainer.step() + 1) % options_.statistics_every_steps == 0;
}

void Logging::on_train_begin(Trainer &trainer) {
  log_ = open_log(path_, trainer.resumed_at());
  if (options_.statistics_every_steps == 0) return;
  watching_ = std::make_unique<Watching>(
      layers_of(trainer.net()), nullptr, [this, &trainer](const NamedPart &part, const Variable &y) {
        if (part.module->training() && is_due(trainer))
          log_->histogram("outputs/" + part.name, trainer.step() + 1, histogram_of(y.value()));
      });
}

void Logging::on_gradients(Trainer &trainer) {
  if (!is_due(trainer)) return;
  for (const auto &[name, p] : trainer.net().named_parameters()) {
    log_->histogram("parameters/" + name, trainer.step() + 1, histogram_of(p.value()));
    if (p.gradient().defined())
      log_->histogram("gradients/" + name, trainer.step() + 1, histogram_of(p.gradient().value()));
  }
}

void Logging::on_step_end(Trainer &trainer, int64_t step, const Logs &logs) {
  if (options_.every_steps > 0 && step % options_.every_steps == 0) {
    for (const auto &[name, value] : logs) log_->scalar("step/" + name, step, value);
    if (!trainer.options().compiled) log_->scalar("step/gradient_norm", step, trainer.gradient_norm());
  }
  log_->flush();  // a checkpoint may follow, behind which nothing is logged again
}

void Logging::on_epoch_end(Trainer &trainer, int64_t, const Logs &logs) {
  for (const auto &[name, value] : logs) log_->scalar("epoch/" + name, trainer.step(), value);
  log_->flush();
}

void Logging::on_train_end(Trainer &) {
  watching_.reset();
  log_.reset();
}

}  // namespace saltern
