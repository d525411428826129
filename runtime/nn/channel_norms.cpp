// Normalisation of channels, by their statistics in a batch or a sample, or by running ones.

#include "algorithms/normalisation.h"

#include "runtime/autograd/state.h"
#include "runtime/layers/movement.h"
#include "runtime/nn/families.h"
#include "runtime/nn/lazy.h"
#include "runtime/nn/norms.h"
#include "runtime/nn/types.h"
#include "runtime/operations.h"

namespace saltern::nn {

namespace {

using namespace formula;

// ---- Of channels, with running statistics.

struct Running {
  Variable mean, variance;
  bool defined() const { return mean.defined() && variance.defined(); }
};

Running running_of(const Arguments &a) {
  return {a.variable_if_given("running_mean"), a.variable_if_given("running_var")};
}

// (mean, variance, those of this batch, how many batches there were) -> the next mean and variance
const Operation blended("blended_statistics", [](const Values &in, const Attributes &a) -> Values {
  const Value momentum = a.has("momentum") ? Value(a.real("momentum")) : 1 / cast(Type::f64, in.at(4));
  const algorithms::Statistics next =
      algorithms::running_statistics({in.at(0), in.at(1)}, {in.at(2), in.at(3)}, momentum, a.integer("count"));
  return {next.mean, next.variance};
});

// Without a momentum, all batches count alike: `batches` is how many there are with this one.
void keep_statistics(const Running &running, const Variable &mean, const Variable &variance, const Argument &momentum,
                     int64_t count, const Variable &batches) {
  Attributes attributes = {{"count", count}};
  if (const auto *m = momentum.as<double>()) attributes.set("momentum", *m);
  if (const auto *m = momentum.as<int64_t>()) attributes.set("momentum", static_cast<double>(*m));
  const std::vector<Variable> next =
      apply(blended,
            {latest(running.mean.value()), latest(running.variance.value()), mean, variance,
             batches.defined() ? batches : Variable(Tensor::full({}, 1, Type::i64))},
            attributes);
  keep(running.mean.value(), next[0]);
  keep(running.variance.value(), next[1]);
}

void expect_channels(const Arguments &a, const Variable &x) {
  if (x.shape().size() < 2) a.refuse("input", "(N, C, ...)");
  for (const char *name : {"running_mean", "running_var", "weight", "bias"})
    if (a.has(name) && a.variable(name).shape() != Shape{x.shape()[1]})
      a.refuse(name, "one for each of " + std::to_string(x.shape()[1]) + " channels");
}

// Values of one channel that are normalised together.
void expect_several(const Arguments &a, int64_t count) {
  if (count == 1) a.refuse("input", "more than one value a channel, in training");
}

Variable batch_normalised(const Arguments &a, bool by_batch, const Argument &momentum, const Variable &batches) {
  const Variable x = a.variable("input");
  expect_channels(a, x);
  const Shape channels = {x.shape()[1]};
  const Variable scale = or_full(a.variable_if_given("weight"), channels, 1, x);
  const Variable shift = or_full(a.variable_if_given("bias"), channels, 0, x);
  const Attributes attributes = {{"epsilon", a.real("eps")}};
  const Running running = running_of(a);
  const int64_t count = x.size() / std::max<int64_t>(channels[0], 1);
  if (!by_batch || count == 0) {
    if (!by_batch && !running.defined()) a.refuse("running_mean", "statistics, where it is not training");
    return apply_one(
        operations::batch_norm,
        {x, or_full(running.mean, channels, 0, x), or_full(running.variance, channels, 1, x), scale, shift},
        attributes);
  }
  expect_several(a, count);
  const std::vector<Variable> y = apply(operations::batch_norm_training, {x, scale, shift}, attributes);
  if (running.defined()) keep_statistics(running, y[1], y[2], momentum, count, batches);
  return y[0];
}

const Function batch_norm(
    "batch_norm", "input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05",
    [](const Arguments &a) { return batch_normalised(a, a.flag("training"), a["momentum"], Variable()); });

// Means and variances of channels, those of samples averaged.
const Operation instance_statistics("instance_statistics", [](const Values &in, const Attributes &) -> Values {
  const Value &x = in.at(0);
  const std::vector<int> over = algorithms::all_but({0, 1}, x);
  const Value m = named("mean", mean(x, over)), deviation = x - m;
  return {algorithms::of_channel(mean(m, {0}), 1),
          algorithms::of_channel(mean(mean(deviation * deviation, over), {0}), 1)};
});

Variable instance_norm_of(const Arguments &a, bool by_sample, const Argument &momentum) {
  const Variable x = a.variable("input");
  if (!by_sample) return batch_normalised(a, false, momentum, Variable());
  expect_channels(a, x);
  const Shape channels = {x.shape()[1]};
  const int64_t samples = std::max<int64_t>(x.shape()[0] * channels[0], 1);
  const int64_t count = x.size() / samples;
  if (count == 0) return x;
  expect_several(a, count);
  const Running running = running_of(a);
  if (running.defined()) {
    const std::vector<Variable> now = apply(instance_statistics, {x});
    keep_statistics(running, now[0], now[1], momentum, count, Variable());
  }
  return scaled_channels(rows_normalised(x, samples, a.real("eps")), a.variable_if_given("weight"),
                         a.variable_if_given("bias"));
}

const Function instance_norm(
    "instance_norm",
    "input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05",
    [](const Arguments &a) { return instance_norm_of(a, a.flag("use_input_stats"), a["momentum"]); });

// ---- Their layers, for each number of dimensions behind channels.

void make_channels(Layer &self) {
  const Arguments &a = self.made_with();
  const Shape channels = {a.integer("num_features")};
  if (channels[0] < 1) a.refuse("num_features", "at least one channel");
  const bool affine = a.flag("affine"), tracks = a.flag("track_running_stats");
  self.parameter("weight", affine ? constant_parameter(channels, 1) : Variable());
  self.parameter("bias", affine && a.flag("bias") ? constant_parameter(channels, 0) : Variable());
  self.buffer("running_mean", tracks ? Tensor::zeros(channels) : Tensor());
  self.buffer("running_var", tracks ? Tensor::full(channels, 1) : Tensor());
  self.buffer("num_batches_tracked", tracks ? Tensor::zeros({}, Type::i64) : Tensor());
}

// What the layer has, as arguments of its function.
Arguments arguments_of(Layer &self, const Function &f, const Variable &x) {
  Named named;
  for (const char *name : {"running_mean", "running_var", "weight", "bias"}) self.find(name, named[name]);
  named["eps"] = self.made_with()["eps"];
  named["input"] = x;
  return f.signature().bind(self.row().name(), {}, named);
}

void expect_rank(const Arguments &in, const std::vector<size_t> &ranks) {
  const size_t rank = in.variable("input").shape().size();
  std::string all;
  for (size_t r : ranks) {
    if (r == rank) return;
    all += (all.empty() ? "" : " or ") + std::to_string(r);
  }
  in.refuse("input", all + " dimensions");
}

const char *const channels = "num_features";
const std::string of_batches = "eps=1e-05, momentum=0.1, affine=True, track_running_stats=True";
const std::string of_instances = "eps=1e-05, momentum=0.1, affine=False, track_running_stats=False, *, bias=True";

const Operation one_more("one_more", [](const Value &count) { return count + 1; });

// No ranks: any.
Forward by_batches(const std::vector<size_t> &ranks) {
  return {"input", [ranks](Layer &self, const Arguments &in) -> Argument {
            if (!ranks.empty()) expect_rank(in, ranks);
            const Tensor count = self.buffer("num_batches_tracked");
            const bool by_batch = self.training() || !count.defined();
            Variable batches;
            if (self.training() && count.defined()) {
              batches = one_more(latest(count));
              keep(count, batches);
            }
            return batch_normalised(arguments_of(self, batch_norm, in.variable("input")), by_batch,
                                    self.made_with()["momentum"], batches);
          }};
}

struct BatchNormRow : RowWithLazy {
  BatchNormRow(const std::string &name, const std::vector<size_t> &ranks)
      : RowWithLazy(name, channels, of_batches + ", *, bias=True", ranks[0], by_batches(ranks), make_channels) {}
};

Forward by_instances(size_t rank) {
  return {"input", [rank](Layer &self, const Arguments &in) -> Argument {
            expect_rank(in, {rank, rank - 1});
            const Variable given = in.variable("input");
            const bool one = given.shape().size() < rank;
            Shape batch = given.shape();
            batch.insert(batch.begin(), 1);
            const Variable x = one ? reshape(given, batch) : given;
            const bool by_sample = self.training() || !self.buffer("running_mean").defined();
            const Argument &momentum = self.made_with()["momentum"];
            const Variable y = instance_norm_of(arguments_of(self, instance_norm, x), by_sample,
                                                momentum.is_none() ? Argument(0.0) : momentum);
            return one ? reshape(y, given.shape()) : y;
          }};
}

struct InstanceNormRow : RowWithLazy {
  InstanceNormRow(const std::string &name, size_t rank)
      : RowWithLazy(name, channels, of_instances, rank, by_instances(rank), make_channels) {}
};

const BatchNormRow batch_norm1d("BatchNorm1d", {2, 3}), batch_norm2d("BatchNorm2d", {4}),
    batch_norm3d("BatchNorm3d", {5});
const LayerRow sync_batch_norm("SyncBatchNorm", channels + (", " + of_batches) + ", process_group=None, *, bias=True",
                               by_batches({}), make_channels);
const InstanceNormRow instance_norm1d("InstanceNorm1d", 3), instance_norm2d("InstanceNorm2d", 4),
    instance_norm3d("InstanceNorm3d", 5);

}  // namespace

const void *channel_norms() { return &batch_norm; }

}  // namespace saltern::nn
