#include "apps/fashion_mnist/train.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <numeric>

#include "runtime/backward.h"
#include "runtime/checkpoint.h"
#include "runtime/data/batches.h"
#include "runtime/layers/losses.h"
#include "runtime/optimizer.h"
#include "runtime/progress.h"

namespace saltern {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int64_t steps_a_point = 20;  // of the loss curve

std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.2f %%", 100 * share);
  return text;
}

Tensor column(const std::vector<double> &values) {
  return Tensor::of<double>({static_cast<int64_t>(values.size())}, values);
}

std::vector<double> values(const Tensor &column) {
  return {column.data<double>(), column.data<double>() + column.size()};
}

// Net, optimizer, history and position, as one set of named tensors.
Checkpoint snapshot(Module &net, const Optimizer &optimizer, const Trained &t, int64_t step) {
  Checkpoint c;
  for (const auto &[name, tensor] : net.state()) c.tensors["net." + name] = tensor;
  for (const auto &[name, tensor] : optimizer.state()) c.tensors["optimizer." + name] = tensor;
  c.tensors["history.step"] = column(t.history.step);
  c.tensors["history.loss"] = column(t.history.loss);
  c.tensors["history.epoch_step"] = column(t.history.epoch_step);
  c.tensors["history.test_accuracy"] = column(t.history.test_accuracy);
  c.tensors["history.unshown"] = column(t.history.unshown);
  c.metadata["step"] = std::to_string(step);
  return c;
}

int64_t restore(const std::string &path, Module &net, Optimizer &optimizer, Trained &t) {
  const Checkpoint c = load_checkpoint(path, {/*expect_finite=*/true});
  std::map<std::string, Tensor> of_net, of_optimizer;
  for (const auto &[name, tensor] : c.tensors) {
    if (name.rfind("net.", 0) == 0) of_net[name.substr(4)] = tensor;
    if (name.rfind("optimizer.", 0) == 0) of_optimizer[name.substr(10)] = tensor;
  }
  const auto step = c.metadata.find("step");
  if (step == c.metadata.end()) fail(path, ": no training checkpoint: its metadata has no 'step'");
  try {
    net.load_state(of_net);
    optimizer.load_state(of_optimizer);
    t.history = {values(c.tensors.at("history.step")), values(c.tensors.at("history.loss")),
                 values(c.tensors.at("history.epoch_step")), values(c.tensors.at("history.test_accuracy")),
                 values(c.tensors.at("history.unshown"))};
    return std::stoll(step->second);
  } catch (const std::exception &e) {
    fail(path, ": ", e.what());
  }
}

}  // namespace

double test_accuracy(Module &net, const Dataset &data) {
  NoGradient off;
  net.eval();
  BatchOptions options;
  options.size = 250;
  options.shuffle = false;
  double right = 0;
  for (const Batch &batch : Batches(data, options))
    right += accuracy(net(batch.images).value(), batch.labels) * static_cast<double>(batch.size());
  net.train();
  return right / static_cast<double>(data.size());
}

Trained train(Module &net, const FashionMnist &data, const TrainOptions &options) {
  const auto begin = Clock::now();
  Trained t;
  SGD optimizer(net, {options.rate, options.momentum});
  BatchOptions batches;
  batches.size = options.batch;
  batches.seed = options.seed;
  const int64_t steps_an_epoch = batches_per_epoch(data.train, batches), steps = options.epochs * steps_an_epoch;

  int64_t step = 0;
  if (options.resume && std::filesystem::exists(options.checkpoint))
    step = restore(options.checkpoint, net, optimizer, t);
  const auto save = [&] {
    if (!options.checkpoint.empty()) save_checkpoint(options.checkpoint, snapshot(net, optimizer, t, step));
  };

  for (int64_t epoch = step / steps_an_epoch; epoch < options.epochs; ++epoch) {
    Progress progress("epoch " + std::to_string(epoch + 1) + "/" + std::to_string(options.epochs), steps_an_epoch);
    for (const Batch &batch : Batches(data.train, batches, epoch, step % steps_an_epoch)) {
      optimizer.set_rate(options.rate * (1 - static_cast<double>(step) / static_cast<double>(steps)));
      const Variable loss = cross_entropy(net(batch.images), batch.labels);
      backward(loss);
      optimizer.step();
      optimizer.clear_gradients();
      ++step;
      std::vector<double> &losses = t.history.unshown;
      losses.push_back(loss.value().item());
      if (step % steps_a_point == 0) {
        t.history.step.push_back(static_cast<double>(step));
        t.history.loss.push_back(std::accumulate(losses.begin(), losses.end(), 0.0) /
                                 static_cast<double>(losses.size()));
        losses.clear();
      }
      char text[32];
      std::snprintf(text, sizeof text, "loss %.3f",
                    t.history.loss.empty() ? loss.value().item() : t.history.loss.back());
      progress.update(batch.index + 1, text);
      // The last step of an epoch stops after the test below.
      if (step == options.stop_after_steps && step % steps_an_epoch != 0) {
        save();
        t.finished = false;
        progress.finish("stopped after " + std::to_string(step) + " steps");
        return t;
      }
    }
    t.test_accuracy = test_accuracy(net, data.test);
    t.history.epoch_step.push_back(static_cast<double>(step));
    t.history.test_accuracy.push_back(t.test_accuracy);
    progress.finish("test accuracy " + percent(t.test_accuracy));
    save();
    if (step == options.stop_after_steps && step < steps) {
      t.finished = false;
      return t;
    }
  }
  if (!t.history.test_accuracy.empty()) t.test_accuracy = t.history.test_accuracy.back();
  t.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return t;
}

}  // namespace saltern
