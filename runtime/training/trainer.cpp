#include "runtime/training/trainer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/autograd/backward.h"
#include "runtime/layers/random_stream.h"
#include "runtime/optim/clipping.h"
#include "runtime/training/not_finite.h"

namespace saltern {

Trainer::Trainer(Module &net, Loss loss, Optimizer &optimizer, TrainerOptions options)
    : net_(net),
      loss_(std::move(loss)),
      optimizer_(optimizer),
      options_(std::move(options)),
      checkpoints_(options_.checkpoints),
      parameters_(net.parameters()) {
  if (options_.epochs < 0) fail("training: ", options_.epochs, " epochs");
  if (options_.accumulate < 1) fail("training: ", options_.accumulate, " batches a step; at least 1 is taken");
  if (!(options_.clip_norm >= 0)) fail("training: gradients are clipped to a norm of ", options_.clip_norm);
  if (!(options_.average >= 0 && options_.average < 1))
    fail("training: the averages' decay is ", options_.average, "; expected 0 to 1, without 1");
  if (options_.compiled && options_.clip_norm != 0)
    fail("training: nobody sees the gradients of a compiled step; it clips them by itself (StepOptions::clip_norm)");
  if (options_.average != 0) averages_ = std::make_unique<Averages>(net, options_.average);
  best_ = Monitor{options_.checkpoints.best}.worst();
}

void Trainer::add(std::shared_ptr<Callback> callback) {
  for (const auto &other : callbacks_)
    if (other->name() == callback->name()) fail("training: there are two callbacks '", callback->name(), "'");
  callbacks_.push_back(std::move(callback));
}

const History &Trainer::fit(const Loader &train) { return fit(train, nullptr); }
const History &Trainer::fit(const Loader &train, const Loader &validation) { return fit(train, &validation); }

const History &Trainer::fit(const Loader &train, const Loader *validation) {
  begin(train, validation);
  for (const auto &c : callbacks_) c->on_train_begin(*this);
  while (!finished() && !stopping_) {
    if (batch_ == 0)
      for (const auto &c : callbacks_) c->on_epoch_begin(*this, epoch_);
    if (!train_epoch(train)) break;
    close_epoch(validation);
  }
  if (step_ != saved_at_ && step_ > resumed_at_) save();
  for (const auto &c : callbacks_) c->on_train_end(*this);
  return history_;
}

void Trainer::begin(const Loader &train, const Loader *validation) {
  if (train.batches < 1) fail("training needs samples: the data have none");
  batches_an_epoch_ = train.batches;
  samples_an_epoch_ = train.samples;
  validation_samples_ = validation ? validation->samples : 0;
  steps_an_epoch_ = (train.batches + options_.accumulate - 1) / options_.accumulate;
  stopping_ = false;
  finished_ = false;
  if (options_.seed) begin_random_stream(*options_.seed);
  const std::string last = options_.checkpoints.resume ? checkpoints_.last() : "";
  if (last.empty()) {
    resumed_at_ = step_;
    return;
  }
  Checkpoint c;
  try {
    c = load_checkpoint(last, {/*expect_finite=*/true});
  } catch (const Error &e) {  // which has the file's name
    throw FileError(e.what());
  }
  try {
    restore(c);
  } catch (const Error &e) {
    throw FileError(last + ": " + e.what());
  }
  resumed_at_ = saved_at_ = step_;
}

bool Trainer::train_epoch(const Loader &train) {
  const Loader::Next next = train.from(epoch_, batch_);
  std::vector<Examples> batches;
  while (std::optional<Examples> batch = next()) {
    batches.push_back(std::move(*batch));
    const bool last = batch_ + static_cast<int64_t>(batches.size()) == train.batches;
    if (static_cast<int64_t>(batches.size()) < options_.accumulate && !last) continue;
    take_step(batches);
    batches.clear();
    // The last step of an epoch belongs to the epoch, which is ended first.
    if (last) break;
    if (stopping_) return false;
    if (options_.checkpoints.every_steps > 0 && step_ % options_.checkpoints.every_steps == 0) save();
  }
  if (!batches.empty()) take_step(batches);
  if (batch_ != train.batches && !train.may_be_fewer)
    fail("training: the data say ", train.batches, " batches and gave ", batch_);
  return true;
}

// Adds the gradient of a batch's loss times `weight`; gives the loss.
double Trainer::accumulate(const Examples &batch, double weight) {
  const Tensor random = random_stream().clone();
  const auto explain = [&] {
    random_stream().copy_from(random);
    explain_not_finite(net_, loss_, batch, "step " + std::to_string(step_ + 1) + ": ");
  };
  const Variable y = net_(batch.x), loss = loss_(y, batch.target);
  const double value = loss.value().item();
  if (!std::isfinite(value)) {
    explain();
    fail("step ", step_ + 1, ": the loss is ", value);
  }
  if (!checked_) optimizer_.check(loss);
  checked_ = true;
  for (const auto &m : options_.metrics) m->update(y.value(), batch.target);
  if (options_.accumulate == 1)
    backward(loss);
  else
    backward(loss, Tensor::full(loss.shape(), weight, loss.type()));
  gradient_norm_ = total_norm(gradients_of(parameters_));
  if (!std::isfinite(gradient_norm_)) {
    explain();
    fail("step ", step_ + 1, ": the norm of the gradients is ", gradient_norm_);
  }
  epoch_loss_.add(value, static_cast<double>(batch.size()));
  return value;
}

double Trainer::tape_step(const std::vector<Examples> &batches) {
  int64_t samples = 0;
  for (const Examples &b : batches) samples += b.size();
  double loss = 0;
  for (const Examples &b : batches) {
    const double weight = static_cast<double>(b.size()) / static_cast<double>(samples);
    loss += accumulate(b, weight) * weight;
  }
  if (options_.clip_norm > 0 && gradient_norm_ > options_.clip_norm)
    scale_gradients(parameters_, options_.clip_norm / gradient_norm_);
  for (const auto &c : callbacks_) c->on_gradients(*this);
  optimizer_.step();
  optimizer_.clear_gradients();
  return loss;
}

double Trainer::compiled_step(const std::vector<Examples> &batches) {
  const double loss = options_.compiled(batches);
  if (!std::isfinite(loss)) fail("step ", step_ + 1, ": the loss is ", loss);
  for (const Examples &b : batches) epoch_loss_.add(loss, static_cast<double>(b.size()));
  return loss;
}

void Trainer::take_step(const std::vector<Examples> &batches) {
  net_.train();
  if (options_.rate) optimizer_.set_rate(options_.rate(step_));
  const double loss = options_.compiled ? compiled_step(batches) : tape_step(batches);
  if (averages_) averages_->update();
  ++step_;
  batch_ += static_cast<int64_t>(batches.size());
  point_loss_.add(loss, 1);
  if (options_.steps_a_point > 0 && step_ % options_.steps_a_point == 0) {
    history_.step.push_back(static_cast<double>(step_));
    history_.loss.push_back(point_loss_.value());
    point_loss_ = {};
  }
  const Logs logs = {{"loss", loss}, {"rate", optimizer_.rate()}};
  for (const auto &c : callbacks_) c->on_step_end(*this, step_, logs);
}

void Trainer::close_epoch(const Loader *validation) {
  Logs logs = {{"loss", epoch_loss_.value()}, {"rate", optimizer_.rate()}};
  if (!options_.compiled)
    for (const auto &m : options_.metrics) logs[m->name()] = m->value();
  if (validation)
    for (const auto &[name, value] : evaluate(*validation)) logs["val_" + name] = value;
  reset_counts();
  for (const auto &[name, value] : logs) history_.epochs[name].push_back(value);
  ++epoch_;
  batch_ = 0;
  for (const auto &c : callbacks_) c->on_epoch_end(*this, epoch_ - 1, logs);
  if (const Monitor best = {options_.checkpoints.best}; !best.name.empty() && !options_.checkpoints.folder.empty()) {
    const double now = best.of(logs);
    if (best.is_better(now, best_)) {
      best_ = now;
      checkpoints_.save_best(snapshot());
    }
  }
  save();
}

void Trainer::reset_counts() {
  epoch_loss_ = {};
  for (const auto &m : options_.metrics) m->reset();
}

void Trainer::save() {
  if (options_.checkpoints.folder.empty()) return;
  checkpoints_.save(step_, snapshot());
  saved_at_ = step_;
}

Logs Trainer::evaluate(const Loader &data) {
  const NoGradient off;
  const EvaluationMode evaluation(net_);
  const Averages::Swapped averages(averages_.get());
  std::vector<std::map<std::string, Tensor>> training;  // what was counted there comes back
  for (const auto &m : options_.metrics) {
    training.push_back(m->state());
    m->reset();
  }
  Mean loss;
  const Loader::Next next = data.from(0, 0);
  while (const std::optional<Examples> batch = next()) {
    const Variable y = net_(batch->x);
    loss.add(loss_(y, batch->target).value().item(), static_cast<double>(batch->size()));
    for (const auto &m : options_.metrics) m->update(y.value(), batch->target);
  }
  Logs logs = {{"loss", loss.value()}};
  for (size_t i = 0; i < options_.metrics.size(); ++i) {
    Metric &m = *options_.metrics[i];
    logs[m.name()] = m.value();
    m.reset();
    if (!training[i].empty()) m.load_state(training[i]);
  }
  return logs;
}

Tensor Trainer::predict(const Loader &data) {
  const NoGradient off;
  const EvaluationMode evaluation(net_);
  const Averages::Swapped averages(averages_.get());
  Tensor all;
  const Loader::Next next = data.from(0, 0);
  while (const std::optional<Examples> batch = next()) {
    const Tensor y = net_(batch->x).value().in_layout(Layout::row_major);
    if (!all.defined()) {
      Shape shape = y.shape();
      shape.at(0) = data.samples;
      all = Tensor::zeros(shape, y.type());
    }
    for (int64_t i = 0; i < batch->size(); ++i)
      all.slice(0, batch->samples[static_cast<size_t>(i)], 1).copy_from(y.slice(0, i, 1));
  }
  if (!all.defined()) fail("there are no samples to predict");
  return all;
}

}  // namespace saltern
