// What checkpoints of training hold, and how it is taken up again.

#include <charconv>
#include <cstdio>

#include "runtime/layers/random_stream.h"
#include "runtime/training/trainer.h"

namespace saltern {

namespace {

using Tensors = std::map<std::string, Tensor>;

Tensor column(const std::vector<double> &values) {
  return Tensor::of<double>({static_cast<int64_t>(values.size())}, values);
}

const Tensor &named(const Checkpoint &c, const std::string &name, Type type) {
  const auto it = c.tensors.find(name);
  if (it == c.tensors.end()) fail("no training checkpoint: it has no tensor '", name, "'");
  const Tensor &t = it->second;
  if (t.rank() != 1 || t.type() != type)
    fail("tensor '", name, "' is ", facts(t.type()).name, to_string(t.shape()), "; expected ", facts(type).name,
         " [n]");
  return t;
}

const std::string &metadata(const Checkpoint &c, const std::string &name) {
  const auto it = c.metadata.find(name);
  if (it == c.metadata.end()) fail("no training checkpoint: its metadata has no '", name, "'");
  return it->second;
}

int64_t count(const Checkpoint &c, const std::string &name, int64_t most) {
  const std::string &text = metadata(c, name);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > most)
    fail("its ", name, " '", text, "' is no number from 0 to ", most);
  return value;
}

std::string exactly(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", v);
  return text;
}

void put(Tensors &to, const std::string &prefix, const Tensors &from) {
  for (const auto &[name, tensor] : from) to[prefix + name] = tensor;
}

Tensors below(const Tensors &all, const std::string &prefix) {
  Tensors found;
  for (const auto &[name, tensor] : all)
    if (name.rfind(prefix, 0) == 0) found[name.substr(prefix.size())] = tensor;
  return found;
}

const std::string epochs_prefix = "history.epochs.";

}  // namespace

std::map<std::string, std::string> Trainer::conditions() const {
  std::map<std::string, std::string> all = options_.conditions;
  all["samples"] = std::to_string(samples_an_epoch_);
  all["batches"] = std::to_string(batches_an_epoch_);
  // Every epoch of the history has the same numbers.
  all["validation samples"] = std::to_string(validation_samples_);
  all["metrics"] = "";
  for (const auto &m : options_.metrics) all["metrics"] += (all["metrics"].empty() ? "" : ", ") + m->name();
  all["accumulate"] = std::to_string(options_.accumulate);
  all["clip_norm"] = exactly(options_.clip_norm);
  all["average"] = exactly(options_.average);
  all["optimizer"] = optimizer_.update().operation;
  if (options_.seed) all["seed"] = std::to_string(*options_.seed);
  return all;
}

std::map<std::string, std::vector<double>> Trainer::counted() const {
  std::map<std::string, std::vector<double>> all = {{"history.step", history_.step},
                                                    {"history.loss", history_.loss},
                                                    {"counted.epoch", {epoch_loss_.sum, epoch_loss_.weight}},
                                                    {"counted.point", {point_loss_.sum, point_loss_.weight}},
                                                    {"best", {best_}}};
  for (size_t g = 0; g < optimizer_.group_count(); ++g) all["rate"].push_back(optimizer_.rate(g));
  for (const auto &c : callbacks_) all["callback." + c->name()] = c->state();
  return all;
}

Checkpoint Trainer::snapshot() const {
  Checkpoint c;
  put(c.tensors, "net.", net_.state());
  put(c.tensors, "optimizer.", optimizer_.state());
  if (averages_) put(c.tensors, "average.", averages_->state());
  for (const auto &[name, values] : history_.epochs) c.tensors[epochs_prefix + name] = column(values);
  for (const auto &[name, values] : counted()) c.tensors[name] = column(values);
  for (const auto &m : options_.metrics) put(c.tensors, "metric." + m->name() + ".", m->state());
  c.tensors["random"] = random_stream();
  c.metadata = conditions();
  c.metadata["step"] = std::to_string(step_);
  c.metadata["epoch"] = std::to_string(epoch_);
  c.metadata["position"] = std::to_string(batch_);
  c.metadata["finished"] = std::to_string(static_cast<int>(finished_));
  return c;
}

void Trainer::restore(const Checkpoint &c) {
  // Those that somebody gave a name come first: they say best what is different.
  for (const auto &all : {options_.conditions, conditions()})
    for (const auto &[name, wanted] : all)
      if (metadata(c, name) != wanted)
        fail("it was made with ", name, " ", metadata(c, name), ", not ", wanted, "; training cannot go on from it");
  constexpr int64_t any = INT64_MAX;
  step_ = count(c, "step", any);
  epoch_ = count(c, "epoch", any);
  batch_ = count(c, "position", batches_an_epoch_);
  finished_ = count(c, "finished", 1) == 1;
  const auto values = [&](const std::string &name, size_t size) {
    std::vector<double> found = named(c, name, Type::f64).reals();
    if (size > 0 && found.size() != size) fail("tensor '", name, "' has ", found.size(), " values; expected ", size);
    return found;
  };
  const auto mean = [&](const std::string &name) {
    const std::vector<double> found = values(name, 2);
    return Mean{found[0], found[1]};
  };
  history_.step = values("history.step", 0);
  history_.loss = values("history.loss", 0);
  history_.epochs.clear();
  for (const auto &[name, column] : below(c.tensors, epochs_prefix))
    history_.epochs[name] = values(epochs_prefix + name, static_cast<size_t>(epoch_));
  epoch_loss_ = mean("counted.epoch");
  point_loss_ = mean("counted.point");
  best_ = values("best", 1)[0];
  for (const auto &m : options_.metrics) m->load_state(below(c.tensors, "metric." + m->name() + "."));
  for (const auto &callback : callbacks_)
    if (const size_t size = callback->state().size())
      callback->load_state(values("callback." + callback->name(), size));
  net_.load_state(below(c.tensors, "net."));
  optimizer_.load_state(below(c.tensors, "optimizer."));
  const std::vector<double> rates = values("rate", optimizer_.group_count());
  for (size_t g = 0; g < rates.size(); ++g)
    if (rates[g] != optimizer_.rate(g)) optimizer_.set_rate(g, rates[g]);
  if (averages_) averages_->load(below(c.tensors, "average."), step_);
  random_stream().copy_from(named(c, "random", Type::i64));
}

}  // namespace saltern
