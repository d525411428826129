// The loop beside one that is written out by hand, and what goes wrong in it.

#include "runtime/training/trainer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/autograd/backward.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/nn/all.h"
#include "runtime/training/early_stopping.h"
#include "runtime/training/plateau.h"
#include "tests/errors.h"

namespace saltern {
namespace {

using State = std::map<std::string, Tensor>;

constexpr int64_t samples = 22, features = 5, kinds = 3;

// Rows whose label is the place of the largest of their first three numbers.
struct Data {
  Tensor x = Random(3).uniform_tensor({samples, features}, -1, 1), labels = Tensor::empty({samples}, Type::i32);
  Data() {
    for (int64_t n = 0; n < samples; ++n) {
      const float *row = x.data<float>() + n * features;
      labels.data<int32_t>()[n] = static_cast<int32_t>(std::max_element(row, row + kinds) - row);
    }
  }
};

Sequential net_of(double dropout = 0) {
  nn::manual_seed(1);
  return Sequential(nn::Linear(features, 8), nn::Tanh(), nn::Dropout(dropout), nn::Linear(8, kinds));
}

const Loss loss = [](const Variable &y, const Variable &labels) { return cross_entropy(y, labels); };

BatchOptions batches(int64_t size) {
  BatchOptions o;
  o.size = size;
  o.seed = 7;
  return o;
}

std::vector<double> all_values(const State &state) {
  std::vector<double> all;
  for (const auto &[name, t] : state)
    for (const double v : t.reals()) all.push_back(v);
  return all;
}

TEST(Trainer, DoesWhatALoopByHandDoes) {
  const Data data;
  Sequential by_hand = net_of();
  SGD hand(by_hand, {0.1, 0.9});
  std::vector<double> losses;
  for (uint64_t epoch = 0; epoch < 3; ++epoch) {
    const std::vector<int64_t> order = shuffled(samples, 7, epoch);
    double sum = 0;
    for (int64_t begin = 0; begin < samples; begin += 8) {
      const std::vector<int64_t> places(order.begin() + begin, order.begin() + std::min(begin + 8, samples));
      const Variable l = loss(by_hand(rows_at(data.x, places)), rows_at(data.labels, places));
      sum += l.value().item() * static_cast<double>(places.size());
      backward(l);
      hand.step();
      hand.clear_gradients();
    }
    losses.push_back(sum / samples);
  }
  Sequential net = net_of();
  SGD optimizer(net, {0.1, 0.9});
  TrainerOptions options;
  options.epochs = 3;
  Trainer trainer(net, loss, optimizer, options);
  EXPECT_EQ(trainer.fit(batches_of(data.x, data.labels, batches(8))).epochs.at("loss"), losses);
  EXPECT_EQ(all_values(net.state()), all_values(by_hand.state()));
  EXPECT_EQ(trainer.step(), 9);
  EXPECT_TRUE(trainer.finished());
}

TEST(Trainer, GivesTheSameBitsForAnyNumberOfThreads) {
  const Data data;
  std::vector<std::vector<double>> found;
  const int before = threads();
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    Sequential net = net_of(0.3);
    Adam optimizer(net, {0.05});
    TrainerOptions options;
    options.epochs = 2;
    options.seed = 5;
    options.clip_norm = 0.5;
    options.average = 0.9;
    Trainer trainer(net, loss, optimizer, options);
    trainer.fit(batches_of(data.x, data.labels, batches(4)));
    found.push_back(all_values(trainer.snapshot().tensors));
  }
  set_threads(before);
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
}

TEST(Trainer, AccumulatesBatchesToTheGradientOfOneLargeBatch) {
  const Data data;
  std::vector<std::vector<double>> found;
  for (const int64_t parts : {1, 4}) {  // 8 + 8 + 6 samples, or 2 + 2 + 2 + 2, ..., and in the end 2 + 2 + 2
    Sequential net = net_of();
    SGD optimizer(net, {0.5});
    TrainerOptions options;
    options.accumulate = parts;
    Trainer trainer(net, loss, optimizer, options);
    trainer.fit(batches_of(data.x, data.labels, batches(8 / parts)));
    EXPECT_EQ(trainer.step(), 3);
    found.push_back(all_values(net.state()));
  }
  for (size_t i = 0; i < found[0].size(); ++i) EXPECT_NEAR(found[0][i], found[1][i], 1e-5);
}

TEST(Trainer, WeighsBatchesOfAStepByTheirSizes) {
  const Data data;
  Sequential whole = net_of(), parts = net_of();
  SGD one(whole, {0.5}), other(parts, {0.5});
  Trainer(whole, loss, one).fit(batches_of(data.x, data.labels, batches(samples)));
  TrainerOptions options;
  options.accumulate = 2;
  Trainer(parts, loss, other, options).fit(batches_of(data.x, data.labels, batches(15)));  // 15 and 7
  const std::vector<double> a = all_values(whole.state()), b = all_values(parts.state());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5);
}

TEST(Trainer, ClipsGradientsByTheirNorm) {
  // A step of plain descent is as long as the rate times the norm, at most.
  const Data data;
  Sequential net = net_of();
  const std::vector<double> before = all_values(net.state());
  SGD optimizer(net, {1});
  TrainerOptions options;
  options.clip_norm = 0.01;
  Trainer trainer(net, loss, optimizer, options);
  trainer.fit(batches_of(data.x, data.labels, batches(samples)));
  const std::vector<double> after = all_values(net.state());
  double sum = 0;
  for (size_t i = 0; i < before.size(); ++i) sum += (before[i] - after[i]) * (before[i] - after[i]);
  EXPECT_NEAR(std::sqrt(sum), 0.01, 1e-4);
  EXPECT_GT(trainer.gradient_norm(), 0.01);
}

TEST(Trainer, TakesTheRateOfEachStepFromASchedule) {
  const Data data;
  Sequential net = net_of();
  SGD optimizer(net, {1});
  TrainerOptions options;
  options.epochs = 2;
  options.rate = [](int64_t step) { return 0.1 / static_cast<double>(step + 1); };
  Trainer trainer(net, loss, optimizer, options);
  std::vector<double> rates;
  const auto watch = std::make_shared<Functions>();
  watch->step_end = [&](Trainer &, int64_t, const Logs &logs) { rates.push_back(logs.at("rate")); };
  trainer.add(watch);
  trainer.fit(batches_of(data.x, data.labels, batches(11)));
  EXPECT_EQ(rates, (std::vector<double>{0.1, 0.05, 0.1 / 3, 0.025}));
}

TEST(Trainer, ValidatesWithAveragesOfTheParameters) {
  const Data data;
  Sequential net = net_of();
  SGD optimizer(net, {0.5});
  TrainerOptions options;
  options.epochs = 2;
  options.average = 0.75;
  options.metrics = {std::make_shared<Accuracy>()};
  Trainer trainer(net, loss, optimizer, options);
  State mean = net.state();
  for (auto &[name, t] : mean) t = t.clone();
  const auto watch = std::make_shared<Functions>();
  watch->step_end = [&](Trainer &, int64_t step, const Logs &) {
    const double decay = step == 1 ? 0 : 0.75;
    for (const auto &[name, p] : net.state())
      for (int64_t i = 0; i < p.size(); ++i) {
        float &m = mean.at(name).data<float>()[i];
        m = static_cast<float>(decay * static_cast<double>(m) + (1 - decay) * static_cast<double>(p.data<float>()[i]));
      }
  };
  trainer.add(watch);
  const Loader loader = batches_of(data.x, data.labels, batches(6));
  const History history = trainer.fit(loader, loader);
  const std::vector<double> found = all_values(trainer.averages()->state()), wanted = all_values(mean);
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-6);
  Sequential averaged = net_of();
  averaged.load_state(mean);
  EXPECT_NEAR(history.epochs.at("val_loss").back(), loss(averaged(data.x), data.labels).value().item(), 1e-6);
  EXPECT_NEAR(history.epochs.at("val_accuracy").back(), accuracy(averaged(data.x).value(), data.labels), 1e-12);
  EXPECT_NE(all_values(net.state()), all_values(mean));
}

TEST(Monitor, KnowsByNameWhatIsToBeHigh) {
  for (const char *name : {"val_accuracy", "val_auroc", "val_matthews_corrcoef", "val_cohen_kappa", "val_jaccard_index",
                           "val_specificity", "val_mean_iou", "val_f1_score"})
    EXPECT_TRUE(Monitor{name}.is_better(0.9, 0.1)) << name;
  for (const char *name : {"val_loss", "val_mean_squared_error", "val_tweedie_deviance_score", "val_hamming_distance",
                           "val_davies_bouldin_score"})
    EXPECT_TRUE(Monitor{name}.is_better(0.1, 0.9)) << name;
}

TEST(Trainer, StopsWhereNothingImproves) {
  const Data data;
  Sequential net = net_of();
  SGD optimizer(net, {0});
  TrainerOptions options;
  options.epochs = 50;
  Trainer trainer(net, loss, optimizer, options);
  trainer.add(std::make_shared<EarlyStopping>(Monitor{"loss", 1e-6}, 3));
  trainer.fit(batches_of(data.x, data.labels, batches(samples)));
  EXPECT_EQ(trainer.epoch(), 4);  // the first, and three that are no better
  EXPECT_TRUE(trainer.finished());
  Trainer other(net, loss, optimizer, options);
  other.add(std::make_shared<EarlyStopping>(Monitor{"val_auc"}));
  expect_error([&] { other.fit(batches_of(data.x, data.labels, batches(samples))); }, {"val_auc", "loss, rate"});
}

// ---- What is not finite is named, with the step and the layer.

struct Strange : Module {
  double factor;
  explicit Strange(double factor) : factor(factor) {}
  Variable forward(const Variable &x) override { return x * factor; }
};

// Its gradient at 0 is infinite.
struct Root : Module {
  Variable forward(const Variable &x) override { return nn::sqrt(x * x); }
};

std::string error_with(const std::shared_ptr<Module> &strange, const Data &data, double rate = 0.1) {
  nn::manual_seed(1);
  Sequential net(nn::Linear(features, 8), nn::Tanh(), strange, nn::Linear(8, kinds));
  SGD optimizer(net, {rate});
  Trainer trainer(net, loss, optimizer);
  return error_of([&] { trainer.fit(batches_of(data.x, data.labels, batches(8))); });
}

TEST(Trainer, NamesTheLayerAndTheStepOfWhatIsNotFinite) {
  const Data data;
  const std::string of_output = error_with(std::make_shared<Strange>(INFINITY), data);
  EXPECT_TRUE(contains(of_output, "step 1: the output of layer '2' (Strange)"));
  // The first steps leave parameters as large as no product can be.
  const std::string later = error_with(std::make_shared<Strange>(1), data, 1e38);
  EXPECT_TRUE(contains(later, "step 3: the output of layer '3' (Linear)")) << later;

  Data zeros;
  zeros.x = Tensor::zeros({samples, features});
  nn::manual_seed(1);
  Sequential net(nn::Linear(features, 8, false), nn::Tanh(), Root(), nn::Linear(8, kinds));
  SGD optimizer(net, {0.1});
  Trainer trainer(net, loss, optimizer);
  const std::string of_gradient = error_of([&] { trainer.fit(batches_of(zeros.x, zeros.labels, batches(8))); });
  EXPECT_TRUE(contains(of_gradient, "step 1: the gradient that layer '2' (Root) hands on")) << of_gradient;

  Data bad;
  bad.x.data<float>()[3] = NAN;
  EXPECT_TRUE(contains(error_with(std::make_shared<Strange>(1), bad), "the input"));
}

TEST(Trainer, BadOptionsAreNamed) {
  Sequential net = net_of();
  SGD optimizer(net);
  TrainerOptions options;
  options.accumulate = 0;
  expect_error([&] { Trainer(net, loss, optimizer, options); }, {"0 batches a step"});
  options = {};
  options.average = 1;
  expect_error([&] { Trainer(net, loss, optimizer, options); }, {"decay is 1"});
  const Data data;
  expect_error([&] { batches_of(data.x, Tensor::zeros({3}, Type::i32)); }, {"[22, 5]", "[3]"});
  Trainer trainer(net, loss, optimizer);
  trainer.add(std::make_shared<EarlyStopping>());
  expect_error([&] { trainer.add(std::make_shared<EarlyStopping>()); }, {"two callbacks", "early_stopping"});
}

TEST(Trainer, PredictsInTheOrderOfTheData) {
  const Data data;
  Sequential net = net_of();
  SGD optimizer(net);
  Trainer trainer(net, loss, optimizer);
  const std::vector<double> wanted = net(data.x).value().reals();
  const std::vector<double> found = trainer.predict(batches_of(data.x, data.labels, batches(5))).reals();
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-6);
}

// A step by hand in the place of the tape's: the same bits, and what it cannot do is refused.
TEST(Trainer, TakesStepsThatSomebodyElseComputes) {
  const Data data;
  const auto trained = [&](bool by_hand, int64_t together) {
    Sequential net = net_of(0.3);
    SGD optimizer(net, {0.1, 0.9});
    TrainerOptions options;
    options.epochs = 2;
    options.seed = 5;
    options.metrics = {std::make_shared<Accuracy>()};
    options.accumulate = together;
    if (by_hand)
      options.compiled = [&](const std::vector<Examples> &all) {
        double mean = 0;
        int64_t count = 0;
        for (const Examples &e : all) count += e.size();
        for (const Examples &e : all) {
          const Variable l = loss(net(e.x), e.target);
          const double weight = static_cast<double>(e.size()) / static_cast<double>(count);
          backward(l, Tensor::full(l.shape(), weight));
          mean += weight * l.value().item();
        }
        optimizer.step();
        optimizer.clear_gradients();
        return mean;
      };
    Trainer trainer(net, loss, optimizer, options);
    const History history = trainer.fit(batches_of(data.x, data.labels, batches(4)), batches_of(data.x, data.labels));
    return std::pair(history.epochs, all_values(net.state()));
  };
  for (const int64_t together : {1, 3}) {  // of three, the last step of an epoch has fewer
    const auto [tape, parameters] = trained(false, together);
    const auto [hand, same] = trained(true, together);
    EXPECT_EQ(parameters, same);
    for (size_t i = 0; i < 2; ++i) EXPECT_NEAR(tape.at("loss")[i], hand.at("loss")[i], 1e-6);
    EXPECT_EQ(tape.at("val_accuracy"), hand.at("val_accuracy"));
    EXPECT_EQ(tape.count("accuracy"), 1U);
    EXPECT_EQ(hand.count("accuracy"), 0U);  // nobody saw what the net said
  }

  Sequential net = net_of();
  SGD optimizer(net, {0.1});
  TrainerOptions options;
  options.compiled = [](const std::vector<Examples> &) { return NAN; };
  expect_error([&] { Trainer(net, loss, optimizer, options).fit(batches_of(data.x, data.labels)); }, {"step 1", "nan"});
  options.clip_norm = 1;
  expect_error([&] { Trainer(net, loss, optimizer, options); }, {"compiled", "clips"});
}

TEST(Trainer, GoesOnWhereSamplesLeftFewerBatches) {
  const Data data;
  Loader fewer = batches_of(data.x, data.labels, batches(4));
  fewer.batches += 2;
  Sequential net = net_of();
  SGD optimizer(net, {0.1});
  TrainerOptions options;
  options.accumulate = 4;
  expect_error([&] { Trainer(net, loss, optimizer, options).fit(fewer); }, {"8 batches", "gave 6"});
  fewer.may_be_fewer = true;
  Trainer trainer(net, loss, optimizer, options);
  trainer.fit(fewer);
  EXPECT_EQ(trainer.step(), 2);  // four batches, and the two that were left
}

TEST(Trainer, MakesTheRateLessOnAPlateau) {
  const Data data;
  Sequential net = net_of();
  SGD optimizer(net, {1e-12});  // nothing is learned
  TrainerOptions options;
  options.epochs = 5;
  Trainer trainer(net, loss, optimizer, options);
  trainer.add(std::make_shared<ReduceOnPlateau>("loss", Attributes{{"factor", 0.5}, {"patience", 1.0}, {"eps", 0.0}}));
  // The first is the best; behind two that are not better the rate is halved.
  BatchOptions in_order;
  in_order.shuffle = false;
  const std::vector<double> rates = trainer.fit(batches_of(data.x, data.labels, in_order)).epochs.at("rate");
  EXPECT_EQ(rates, (std::vector<double>{1e-12, 1e-12, 1e-12, 0.5e-12, 0.5e-12}));
}

}  // namespace
}  // namespace saltern
