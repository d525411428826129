// Nets learn; parameters are shared by name; the same seed gives the same bits, with one thread or two.

#include <gtest/gtest.h>

#include <cstring>

#include "runtime/autograd/backward.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/nn/all.h"
#include "runtime/optim/optimizer.h"

namespace saltern {
namespace {

Sequential small_net(uint64_t seed) {
  nn::manual_seed(seed);
  return Sequential(nn::Conv2d(1, 8, 3, 1, 1), nn::BatchNorm2d(8), nn::ReLU(), nn::MaxPool2d(2),
                    nn::Conv2d(8, 19, 3, 1, 1), nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Dropout(0.1),
                    nn::Linear(19 * 9, 3));
}

// Pictures of one of three stripes, with noise.
struct Batch {
  Tensor images, labels;
};
Batch stripes(Random &random, int64_t n) {
  Batch b = {random.uniform_tensor({n, 1, 12, 12}, -0.5f, 0.5f), Tensor::empty({n}, Type::i32)};
  for (int64_t i = 0; i < n; ++i) {
    const auto kind = static_cast<int32_t>(random.below(3));
    b.labels.data<int32_t>()[i] = kind;
    for (int64_t j = 0; j < 12; ++j) {
      const Shape at = kind == 0 ? Shape{i, 0, 5, j} : kind == 1 ? Shape{i, 0, j, 5} : Shape{i, 0, j, j};
      b.images.at<float>(at) += 1;
    }
  }
  return b;
}

struct Result {
  double first_loss = 0, last_loss = 0, accuracy = 0;
  std::map<std::string, Tensor> state;
};

template <typename Optimizer, typename Options>
Result train(int steps, const Options &options) {
  Random random(42);
  Sequential net = small_net(42);
  Optimizer optimizer(net, options);
  Result result;
  for (int step = 0; step < steps; ++step) {
    const Batch batch = stripes(random, 33);
    const Variable loss = cross_entropy(net(batch.images), batch.labels);
    backward(loss);
    optimizer.step();
    optimizer.clear_gradients();
    if (step == 0) result.first_loss = loss.value().item();
    result.last_loss = loss.value().item();
  }
  net.eval();
  NoGradient guard;
  const Batch batch = stripes(random, 200);
  result.accuracy = accuracy(net(batch.images).value(), batch.labels);
  result.state = net.state();
  for (auto &[name, t] : optimizer.state()) result.state["optimizer." + name] = t;
  return result;
}

void expect_same_bits(const Result &a, const Result &b) {
  ASSERT_EQ(a.state.size(), b.state.size());
  for (const auto &[name, t] : a.state)
    EXPECT_EQ(std::memcmp(t.raw(), b.state.at(name).raw(), t.bytes()), 0) << name << " differs";
}

TEST(Training, SgdLearns) {
  const Result r = train<SGD>(40, SgdOptions{0.05, 0.9, 1e-4});
  EXPECT_LT(r.last_loss, 0.3 * r.first_loss);
  EXPECT_GT(r.accuracy, 0.9);
}

TEST(Training, AdamLearns) {
  const Result r = train<Adam>(40, AdamOptions{3e-3});
  EXPECT_LT(r.last_loss, 0.5 * r.first_loss);
  EXPECT_GT(r.accuracy, 0.9);
}

TEST(Training, AdamWLearns) { EXPECT_GT(train<AdamW>(40, AdamOptions{3e-3}).accuracy, 0.9); }

TEST(Training, TheSameSeedGivesTheSameBitsOnOneThreadAndOnTwo) {
  const int before = threads();
  set_threads(1);
  const Result one = train<SGD>(6, SgdOptions{0.05, 0.9});
  set_threads(2);
  const Result two = train<SGD>(6, SgdOptions{0.05, 0.9}), again = train<SGD>(6, SgdOptions{0.05, 0.9});
  set_threads(before);
  expect_same_bits(one, two);
  expect_same_bits(two, again);
}

TEST(Training, ResumingFromStateGivesTheSameBits) {
  const auto run = [](Sequential &net, SGD &optimizer, Random &data, int steps) {
    for (int i = 0; i < steps; ++i) {
      const Batch batch = stripes(data, 16);
      backward(cross_entropy(net(batch.images), batch.labels));
      optimizer.step();
      optimizer.clear_gradients();
    }
  };
  const auto saved = [](const std::map<std::string, Tensor> &state) {
    std::map<std::string, Tensor> copy;
    for (const auto &[name, t] : state) copy[name] = t.clone();
    return copy;
  };
  Random data(2);
  Sequential resumed = small_net(99), net = small_net(1);
  SGD optimizer(net, {0.05, 0.9}), resumed_optimizer(resumed, {0.05, 0.9});
  run(net, optimizer, data, 3);
  resumed.load_state(saved(net.state()));
  resumed_optimizer.load_state(saved(optimizer.state()));
  Random resumed_data(data.seed(), data.position());
  const Tensor stream = random_stream().clone();
  run(net, optimizer, data, 3);
  random_stream().copy_from(stream);
  run(resumed, resumed_optimizer, resumed_data, 3);
  expect_same_bits({0, 0, 0, net.state()}, {0, 0, 0, resumed.state()});
}

// One parameter, gradients given; the update rules as their papers have them, in double.
struct OneParameter : Module {
  Variable p{Tensor::of<float>({3}, {1, -2, 3}), true};
  void visit(Visitor &v) override { v.parameter("p", p); }
};

TEST(Optimizers, SgdFollowsItsRule) {
  for (bool nesterov : {false, true}) {
    OneParameter m;
    SGD optimizer(m, {0.1, 0.9, 0.01, nesterov ? 0 : 0.5, nesterov});
    double p[3] = {1, -2, 3}, v[3] = {0, 0, 0};
    for (int t = 0; t < 4; ++t) {
      m.p.set_gradient(Tensor::of<float>({3}, {0.5f, 1.0f, static_cast<float>(t)}));
      optimizer.step();
      for (int i = 0; i < 3; ++i) {
        const double g = (i == 0 ? 0.5 : i == 1 ? 1 : t) + 0.01 * p[i];
        v[i] = t == 0 ? g : 0.9 * v[i] + (1 - (nesterov ? 0 : 0.5)) * g;
        p[i] -= 0.1 * (nesterov ? g + 0.9 * v[i] : v[i]);
        EXPECT_NEAR(m.p.value().data<float>()[i], p[i], 1e-5) << t;
      }
    }
  }
}

template <typename Rule>
void expect_adam_rule(bool decoupled) {
  OneParameter m;
  Rule optimizer(m, AdamOptions{0.1, 0.9, 0.99, 1e-6, 0.05});
  double p[3] = {1, -2, 3}, mean[3] = {0, 0, 0}, square[3] = {0, 0, 0};
  for (int t = 1; t <= 4; ++t) {
    m.p.set_gradient(Tensor::of<float>({3}, {0.5f, 1.0f, static_cast<float>(t)}));
    optimizer.step();
    for (int i = 0; i < 3; ++i) {
      double g = i == 0 ? 0.5 : i == 1 ? 1 : t;
      if (decoupled)
        p[i] -= 0.1 * 0.05 * p[i];
      else
        g += 0.05 * p[i];
      mean[i] = 0.9 * mean[i] + 0.1 * g;
      square[i] = 0.99 * square[i] + 0.01 * g * g;
      p[i] -= 0.1 * mean[i] / (1 - std::pow(0.9, t)) / (std::sqrt(square[i] / (1 - std::pow(0.99, t))) + 1e-6);
      EXPECT_NEAR(m.p.value().data<float>()[i], p[i], 1e-4) << t;
    }
  }
}

TEST(Optimizers, AdamFollowsItsRule) { expect_adam_rule<Adam>(false); }
TEST(Optimizers, AdamWDecaysParametersThemselves) { expect_adam_rule<AdamW>(true); }

struct TwoParameters : Module {
  Variable early{Tensor::full({1}, 1), true}, late{Tensor::full({1}, 1), true};
  void visit(Visitor &v) override {
    v.parameter("early", early);
    v.parameter("late", late);
  }
};

// As in PyTorch: a parameter's first gradient makes its step 1, whenever it comes.
template <typename Rule, typename Options>
void expect_late_parameter_to_step_like_an_early_one(const Options &options) {
  TwoParameters m;
  Rule optimizer(m, options);
  std::vector<double> early, late;
  for (int step = 0; step < 6; ++step) {
    m.early.set_gradient(Tensor::full({1}, 0.5));
    if (step >= 3) m.late.set_gradient(Tensor::full({1}, 0.5));
    optimizer.step();
    if (step < 3) early.push_back(m.early.value().item());
    if (step >= 3) late.push_back(m.late.value().item());
  }
  EXPECT_EQ(late, early);
}

TEST(Optimizers, StepsAreCountedForEachParameter) {
  expect_late_parameter_to_step_like_an_early_one<Adam>(AdamOptions{0.1});
  expect_late_parameter_to_step_like_an_early_one<SGD>(SgdOptions{0.1, 0.9, 0, 0.5});
}

TEST(Optimizers, SgdWithoutMomentumKeepsNoVelocityAndIgnoresDampening) {
  OneParameter m;
  SGD optimizer(m, {0.1, 0, 0.01, 0.5});
  for (auto &[name, slot] : optimizer.state()) EXPECT_EQ(name, "steps.p");
  double p[3] = {1, -2, 3};
  for (int t = 0; t < 3; ++t) {
    const Tensor gradient = Tensor::of<float>({3}, {0.5f, 1.0f, static_cast<float>(t)});
    m.p.set_gradient(gradient);
    optimizer.step();
    for (int i = 0; i < 3; ++i) {
      const double g = i == 0 ? 0.5 : i == 1 ? 1 : t;
      p[i] -= 0.1 * (g + 0.01 * p[i]);
      EXPECT_NEAR(m.p.value().data<float>()[i], p[i], 1e-5) << t;
      EXPECT_EQ(gradient.data<float>()[i], static_cast<float>(g)) << "the gradient stays what it was";
    }
  }
}

TEST(Modules, EvaluationModeGivesEveryPartItsOwnModeBack) {
  Sequential net(nn::Linear(2, 2), Sequential(nn::BatchNorm1d(2), nn::Dropout(0.5)));
  auto &inner = dynamic_cast<Sequential &>(net.at(1));
  inner.at(0).eval();  // frozen while the rest trains
  EXPECT_THROW(
      {
        const EvaluationMode evaluation(net);
        EXPECT_FALSE(net.training() || net.at(0).training() || inner.at(1).training());
        fail("whatever happens meanwhile");
      },
      Error);
  EXPECT_TRUE(net.training() && net.at(0).training() && inner.training() && inner.at(1).training());
  EXPECT_FALSE(inner.at(0).training());
}

TEST(Modules, ANullLayerIsRefusedWhereItIsAdded) {
  Sequential net{nn::ReLU()};
  EXPECT_THROW(net.add(std::shared_ptr<Module>()), Error);
}

TEST(Modules, ASharedLayerIsCountedOnceAndGetsBothGradients) {
  Random random(1);
  auto shared = std::make_shared<nn::Layer>(nn::Linear(4, 4, false));
  const Variable weight = shared->parameter("weight");
  Sequential net(shared, nn::ReLU(), shared);
  EXPECT_EQ(net.parameter_count(), 16);
  EXPECT_EQ(net.named_parameters().at(0).first, "0.weight");
  const Tensor x = random.uniform_tensor({3, 4}, 0.1f, 1);
  weight.value().copy_from(Tensor::full({4, 4}, 0.5));
  backward(sum(net(x)));
  const Tensor both = weight.gradient().value();
  // The same net with two layers of equal weights: the shared gradient is the sum of theirs.
  nn::Layer a = nn::Linear(4, 4, false), b = nn::Linear(4, 4, false);
  const Variable a_weight = a.parameter("weight"), b_weight = b.parameter("weight");
  a_weight.value().copy_from(weight.value());
  b_weight.value().copy_from(weight.value());
  Sequential apart(a, nn::ReLU(), b);
  backward(sum(apart(x)));
  for (int64_t i = 0; i < 16; ++i)
    EXPECT_NEAR(both.data<float>()[i],
                a_weight.gradient().value().data<float>()[i] + b_weight.gradient().value().data<float>()[i], 1e-4);
}

TEST(Modules, NamesAreDottedAndStateIsChecked) {
  Sequential net(nn::Linear(2, 3), Sequential(nn::Linear(3, 1), nn::BatchNorm1d(1)));
  std::vector<std::string> names;
  for (auto &[name, t] : net.state()) names.push_back(name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"0.bias", "0.weight", "1.0.bias", "1.0.weight", "1.1.bias",
                                      "1.1.num_batches_tracked", "1.1.running_mean", "1.1.running_var", "1.1.weight"}));
  auto state = net.state();
  state.erase("1.0.weight");
  EXPECT_THROW(net.load_state(state), Error);
  state["1.0.weight"] = Tensor::zeros({2, 2});
  EXPECT_THROW(net.load_state(state), Error);
}

TEST(Modules, InitialParametersAreWithinPyTorchsBounds) {
  const Tensor weight = nn::Conv2d(16, 32, 3).parameter("weight").value();
  const float bound = 1 / std::sqrt(16 * 9.0f);
  float most = 0;
  for (int64_t i = 0; i < weight.size(); ++i) most = std::max(most, std::fabs(weight.data<float>()[i]));
  EXPECT_LE(most, bound);
  EXPECT_GT(most, 0.95f * bound);
}

}  // namespace
}  // namespace saltern
