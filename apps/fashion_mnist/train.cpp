#include "apps/fashion_mnist/train.h"

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>

#include "runtime/autograd/backward.h"
#include "runtime/data/batches.h"
#include "runtime/layers/losses.h"
#include "runtime/optim/optimizer.h"
#include "runtime/report/progress.h"
#include "runtime/tensor/checkpoint.h"

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

// Where training stands: what a checkpoint holds besides the net and the optimizer.
struct Standing {
  TrainHistory history;
  int64_t step = 0;
  double loss_sum = 0, loss_count = 0;  // of the next point of the loss curve
};

// The vectors of a standing by the names that they have in a checkpoint.
std::map<std::string, std::vector<double> *> columns(Standing &s) {
  return {{"history.step", &s.history.step},
          {"history.loss", &s.history.loss},
          {"history.epoch_step", &s.history.epoch_step},
          {"history.test_accuracy", &s.history.test_accuracy}};
}

// What has to be the same for a resumed run to give the same bits, as text.
std::map<std::string, std::string> conditions(const FashionMnist &data, const TrainOptions &o) {
  const auto real = [](double v) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", v);
    return std::string(text);
  };
  return {{"epochs", std::to_string(o.epochs)},
          {"batch", std::to_string(o.batch)},
          {"rate", real(o.rate)},
          {"momentum", real(o.momentum)},
          {"seed", std::to_string(o.seed)},
          {"pictures", std::to_string(data.train.size())}};
}

Checkpoint snapshot(Module &net, const Optimizer &optimizer, Standing &s,
                    const std::map<std::string, std::string> &conditions) {
  Checkpoint c;
  for (const auto &[name, tensor] : net.state()) c.tensors["net." + name] = tensor;
  for (const auto &[name, tensor] : optimizer.state()) c.tensors["optimizer." + name] = tensor;
  for (const auto &[name, values] : columns(s)) c.tensors[name] = column(*values);
  c.tensors["history.open"] = column({s.loss_sum, s.loss_count});
  c.metadata = conditions;
  c.metadata["step"] = std::to_string(s.step);
  return c;
}

const Tensor &column_named(const Checkpoint &c, const std::string &name) {
  const auto it = c.tensors.find(name);
  if (it == c.tensors.end()) fail("no training checkpoint: it has no tensor '", name, "'");
  if (it->second.rank() != 1 || it->second.type() != Type::f64)
    fail("tensor '", name, "' is ", facts(it->second.type()).name, to_string(it->second.shape()), "; expected f64 [n]");
  return it->second;
}

const std::string &metadata(const Checkpoint &c, const std::string &name) {
  const auto it = c.metadata.find(name);
  if (it == c.metadata.end()) fail("no training checkpoint: its metadata has no '", name, "'");
  return it->second;
}

Standing restored(const Checkpoint &c, Module &net, Optimizer &optimizer,
                  const std::map<std::string, std::string> &conditions, int64_t steps) {
  for (const auto &[name, wanted] : conditions)
    if (metadata(c, name) != wanted)
      fail("it was made with ", name, " ", metadata(c, name), ", not ", wanted, "; training cannot go on from it");
  Standing s;
  const std::string &step = metadata(c, "step");
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), s.step);
  if (error != std::errc() || end != step.data() + step.size() || s.step < 0 || s.step > steps)
    fail("its step '", step, "' is no number from 0 to ", steps);
  for (const auto &[name, to] : columns(s)) *to = values(column_named(c, name));
  const std::vector<double> open = values(column_named(c, "history.open"));
  if (open.size() != 2) fail("tensor 'history.open' has ", open.size(), " values; expected 2");
  s.loss_sum = open[0];
  s.loss_count = open[1];
  std::map<std::string, Tensor> of_net, of_optimizer;
  for (const auto &[name, tensor] : c.tensors) {
    if (name.rfind("net.", 0) == 0) of_net[name.substr(4)] = tensor;
    if (name.rfind("optimizer.", 0) == 0) of_optimizer[name.substr(10)] = tensor;
  }
  net.load_state(of_net);
  optimizer.load_state(of_optimizer);
  return s;
}

Standing restored(const std::string &path, Module &net, Optimizer &optimizer,
                  const std::map<std::string, std::string> &conditions, int64_t steps) {
  const Checkpoint c = load_checkpoint(path, {/*expect_finite=*/true});
  try {
    return restored(c, net, optimizer, conditions, steps);
  } catch (const Error &e) {
    fail(path, ": ", e.what());
  }
}

}  // namespace

double test_accuracy(Module &net, const Dataset &data) {
  const NoGradient off;
  const EvaluationMode evaluation(net);
  BatchOptions options;
  options.size = 250;
  options.shuffle = false;
  double right = 0;
  for (const Batch &batch : Batches(data, options))
    right += accuracy(net(batch.images).value(), batch.labels) * static_cast<double>(batch.size());
  return right / static_cast<double>(data.size());
}

Trained train(Module &net, const FashionMnist &data, const TrainOptions &options) {
  if (data.train.size() < 1 || data.test.size() < 1)
    fail("training needs pictures: there are ", data.train.size(), " to train on and ", data.test.size(), " to test");
  const auto begin = Clock::now();
  SGD optimizer(net, {options.rate, options.momentum});
  BatchOptions batches;
  batches.size = options.batch;
  batches.seed = options.seed;
  const int64_t steps_an_epoch = batches_per_epoch(data.train, batches), steps = options.epochs * steps_an_epoch;
  const std::map<std::string, std::string> conditions = saltern::conditions(data, options);

  Standing s;
  if (options.resume && std::filesystem::exists(options.checkpoint))
    s = restored(options.checkpoint, net, optimizer, conditions, steps);
  else if (options.resume)
    std::cerr << "there is no " << options.checkpoint << " to go on from: training begins\n";
  const int64_t resumed_at = s.step;
  const auto stand = [&](bool finished) -> Trained {
    return {s.history, s.history.test_accuracy.empty() ? 0 : s.history.test_accuracy.back(),
            std::chrono::duration<double>(Clock::now() - begin).count(), resumed_at, finished};
  };
  const auto save = [&] {
    if (options.checkpoint.empty()) return;
    const Checkpoint c = snapshot(net, optimizer, s, conditions);
    // A good checkpoint is not written over with one that nobody can go on from.
    for (const auto &[name, tensor] : c.tensors)
      expect_finite(tensor, "step " + std::to_string(s.step) + ": tensor '" + name + "': ");
    save_checkpoint(options.checkpoint, c);
  };
  const auto stops = [&] { return options.stop_after_steps > 0 && s.step >= options.stop_after_steps; };
  if (stops() && s.step < steps) return stand(false);

  for (int64_t epoch = s.step / steps_an_epoch; epoch < options.epochs; ++epoch) {
    Progress progress("epoch " + std::to_string(epoch + 1) + "/" + std::to_string(options.epochs), steps_an_epoch);
    for (const Batch &batch : Batches(data.train, batches, epoch, s.step % steps_an_epoch)) {
      optimizer.set_rate(options.rate * (1 - static_cast<double>(s.step) / static_cast<double>(steps)));
      const Variable loss = cross_entropy(net(batch.images), batch.labels);
      const double value = loss.value().item();
      if (!std::isfinite(value))
        fail("step ", s.step + 1, ": the loss is ", value, "; a rate below ", options.rate, " may help");
      if (s.step == resumed_at) optimizer.check(loss);
      backward(loss);
      optimizer.step();
      optimizer.clear_gradients();
      ++s.step;
      s.loss_sum += value;
      ++s.loss_count;
      if (s.step % steps_a_point == 0) {
        s.history.step.push_back(static_cast<double>(s.step));
        s.history.loss.push_back(s.loss_sum / s.loss_count);
        s.loss_sum = s.loss_count = 0;
      }
      char text[32];
      std::snprintf(text, sizeof text, "loss %.3f", s.history.loss.empty() ? value : s.history.loss.back());
      progress.update(batch.index + 1, text);
      // The last step of an epoch belongs to the epoch: its accuracy is taken first.
      if (stops() && s.step % steps_an_epoch != 0) {
        save();
        progress.finish("stopped after " + std::to_string(s.step) + " steps");
        return stand(false);
      }
    }
    const double share = test_accuracy(net, data.test);
    s.history.epoch_step.push_back(static_cast<double>(s.step));
    s.history.test_accuracy.push_back(share);
    progress.finish("test accuracy " + percent(share));
    save();
    if (stops() && s.step < steps) return stand(false);
  }
  return stand(true);
}

}  // namespace saltern
