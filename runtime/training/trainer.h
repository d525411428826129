#pragma once
// The loop: batches, loss, gradients, updates, validation, checkpoints.
//
//   SGD optimizer(net, {0.05, 0.9});
//   TrainerOptions options;
//   options.epochs = 10;
//   options.metrics = {std::make_shared<Accuracy>()};
//   options.checkpoints = {"run", 3};
//   Trainer trainer(net, cross_entropy_of_classes, optimizer, options);
//   trainer.add(std::make_shared<EarlyStopping>(Monitor{"val_loss"}, 3));
//   trainer.fit(batches_of(train), batches_of(test)).epochs.at("val_accuracy");
//
// The same seeds give the same bits for any number of threads. Training that ended anywhere, by kill -9 too, and is resumed
// from its checkpoints ends with the same bits as without the break, history included; other options or data than those that
// a checkpoint was made with are refused.
//
// A loss or a gradient that is not finite ends it with an Error that names the step and the first layer it came from.

#include <memory>
#include <optional>

#include "runtime/optim/averages.h"
#include "runtime/optim/training_step.h"
#include "runtime/training/callback.h"
#include "runtime/training/checkpoints.h"
#include "runtime/training/loader.h"
#include "runtime/training/metric.h"

namespace saltern {

struct TrainerOptions {
  int64_t epochs = 1;
  std::function<double(int64_t step)> rate = nullptr;  // the learning rate of step 0, 1, ...; none: the optimizer's own
  double clip_norm = 0;    // gradients whose norm is above are scaled down to it; 0: they stay as they are
  int64_t accumulate = 1;  // batches a step: the gradient is that of one large batch
  double average = 0;      // the decay of averages of the parameters (runtime/optim/averages.h); 0: there are none
  std::optional<uint64_t> seed = {};  // of what the net draws, such as dropout; none: the stream goes on
  std::vector<std::shared_ptr<Metric>> metrics = {};
  CheckpointOptions checkpoints = {};
  // What else has to be as it was for training to be resumed, by name: facts of the data, of what the net is made with.
  std::map<std::string, std::string> conditions = {};
  // Takes a step of these batches, `accumulate` of them or at the end of an epoch fewer, and gives its loss, in the place of the
  // tape: compile_step() of generators/model/compile_step.h, of the same net, loss and optimizer. Nobody sees its gradients and
  // what the net says in it: it clips by itself (StepOptions::clip_norm), metrics are those of validation only, and batches are
  // of one size.
  std::function<double(const std::vector<Examples> &)> compiled = nullptr;
  int64_t steps_a_point = 20;  // of the history's loss by steps
};

struct History {
  // A value for each epoch: loss, val_loss, rate, and the metrics, those of validation as val_NAME.
  std::map<std::string, std::vector<double>> epochs;
  std::vector<double> step, loss;  // a mean over some steps each

  bool operator==(const History &o) const { return epochs == o.epochs && step == o.step && loss == o.loss; }
};

class Trainer {
 public:
  // The net, the optimizer and what the loss refers to must outlive it.
  Trainer(Module &net, Loss loss, Optimizer &optimizer, TrainerOptions options = {});

  // In this order they are called. Two of one name are an error.
  void add(std::shared_ptr<Callback> callback);

  const History &fit(const Loader &train);
  const History &fit(const Loader &train, const Loader &validation);

  // The mean loss and the metrics, with the averages where there are some.
  Logs evaluate(const Loader &data);
  // What the net says of all samples, in their order.
  Tensor predict(const Loader &data);

  // Ends this run behind the step or, at the end of one, the epoch; training can be resumed.
  void stop() { stopping_ = true; }
  // Likewise, for good: what is resumed ends at once.
  void finish() { stopping_ = finished_ = true; }
  bool finished() const { return finished_ || epoch_ >= options_.epochs; }

  Module &net() { return net_; }
  Optimizer &optimizer() { return optimizer_; }
  const TrainerOptions &options() const { return options_; }
  const Loss &loss() const { return loss_; }
  const History &history() const { return history_; }
  int64_t step() const { return step_; }
  int64_t epoch() const { return epoch_; }
  int64_t steps_an_epoch() const { return steps_an_epoch_; }
  int64_t resumed_at() const { return resumed_at_; }
  const Checkpoints &checkpoints() const { return checkpoints_; }
  // Null where there are none.
  Averages *averages() { return averages_.get(); }
  // The norm of the gradients of the last step, before it was clipped.
  double gradient_norm() const { return gradient_norm_; }

  // All that training depends on.
  Checkpoint snapshot() const;
  void restore(const Checkpoint &checkpoint);

 private:
  const History &fit(const Loader &train, const Loader *validation);
  void begin(const Loader &train, const Loader *validation);
  bool train_epoch(const Loader &train);  // whether it came to its end
  void take_step(const std::vector<Examples> &batches);
  double tape_step(const std::vector<Examples> &batches);
  double compiled_step(const std::vector<Examples> &batches);
  double accumulate(const Examples &batch, double weight);
  void close_epoch(const Loader *validation);
  void save();
  void reset_counts();
  std::map<std::string, std::string> conditions() const;
  // What is counted, by the names that it has in a checkpoint.
  std::map<std::string, std::vector<double>> counted() const;

  Module &net_;
  Loss loss_;
  Optimizer &optimizer_;
  TrainerOptions options_;
  Checkpoints checkpoints_;
  std::vector<std::shared_ptr<Callback>> callbacks_;
  std::unique_ptr<Averages> averages_;
  std::vector<Variable> parameters_;

  History history_;
  int64_t step_ = 0, epoch_ = 0, batch_ = 0;  // taken; done; of this epoch
  int64_t resumed_at_ = 0, batches_an_epoch_ = 0, samples_an_epoch_ = 0, validation_samples_ = 0, steps_an_epoch_ = 0;
  Mean epoch_loss_, point_loss_;
  double best_ = 0, gradient_norm_ = 0;
  int64_t saved_at_ = -1;
  bool stopping_ = false, finished_ = false, checked_ = false;
};

}  // namespace saltern
