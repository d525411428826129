// A training step as a graph computes what the tape computes, bit by bit, and the two can take turns.

#include "runtime/optim/training_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "runtime/autograd/backward.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/text.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"
#include "tests/training_problems.h"

namespace saltern {
namespace {

using namespace nn::literals;

void step_on_tape(Module &net, Optimizer &optimizer, const Problem &problem, const Batch &batch, double &loss) {
  const Variable l = problem.loss(net(batch.x), batch.labels);
  loss = l.value().item();
  backward(l);
  optimizer.step();
  optimizer.clear_gradients();
}

State state_of(Module &net, const Optimizer &optimizer) {
  State all = net.state();
  for (const auto &[name, t] : optimizer.state()) all[name] = t;
  all["random"] = random_stream();
  return all;
}

void expect_same_bits(const State &a, const State &b) {
  for (const auto &[name, t] : a) {
    if (name == "random" && b.count(name) == 0) continue;  // of a net that draws nothing
    ASSERT_EQ(b.count(name), 1u) << name;
    const Tensor x = t.in_layout(Layout::row_major), y = b.at(name).in_layout(Layout::row_major);
    ASSERT_EQ(x.shape(), y.shape()) << name;
    EXPECT_EQ(std::memcmp(x.raw(), y.raw(), x.bytes()), 0) << name << " differs";
  }
}

template <typename Rule, typename Options>
void expect_steps_of_the_tape(const Problem &problem, const Options &options) {
  Random data(6);
  Sequential net = problem.net();
  Rule optimizer(net, options);
  const Batch first = problem.batch(data);
  const Graph step = training_step(net, first.x, first.labels, problem.loss, optimizer);
  State state;
  for (int i = 0; i < 5; ++i) {
    const Batch batch = problem.batch(data);
    double loss = 0;
    const double in_graph = step_in_graph(step, batch, state);
    step_on_tape(net, optimizer, problem, batch, loss);
    EXPECT_EQ(in_graph, loss) << "step " << i;
    expect_same_bits(state_of(net, optimizer), state);
  }
}

TEST(TrainingStep, GivesTheBitsOfTheTapeWithEveryOptimizer) {
  for (const Problem &problem : {pictures(), rows()}) {
    expect_steps_of_the_tape<SGD>(problem, SgdOptions{0.1});
    expect_steps_of_the_tape<SGD>(problem, SgdOptions{0.1, 0.9, 0.01, 0.5});
    expect_steps_of_the_tape<SGD>(problem, SgdOptions{0.1, 0.9, 0.01, 0, true});
    expect_steps_of_the_tape<Adam>(problem, AdamOptions{0.01, 0.9, 0.999, 1e-8, 0.01});
    expect_steps_of_the_tape<AdamW>(problem, AdamOptions{0.01, 0.9, 0.999, 1e-8, 0.01});
  }
}

// Layers by their names: those with kernels give the same bits, formulas the same numbers.
Problem named_layers(bool formulas, const nn::Argument &momentum) {
  return {[formulas, momentum] {
            nn::manual_seed(3);
            Sequential net(nn::BatchNorm1d(4, "momentum"_a = momentum), nn::Linear(3, 6), nn::ReLU(), nn::LayerNorm(6),
                           nn::RMSNorm(6));
            if (formulas) net.add(nn::InstanceNorm1d(4, 1e-5, 0.2, true));
            if (formulas) net.add(nn::GroupNorm(2, 4));
            net.add(nn::Flatten());
            net.add(nn::Linear(24, 3));
            return net;
          },
          [](Random &random) {
            return Batch{random.uniform_tensor({5, 4, 3}, -1, 1), classes(random, 5, 3, 1)};
          },
          [formulas](const Variable &y, const Variable &labels) {
            return nn::cross_entropy(y, labels, "label_smoothing"_a = formulas ? 0.2 : 0.0);
          }};
}

TEST(TrainingStep, HasStateOfLayersByName) {
  expect_steps_of_the_tape<SGD>(named_layers(false, 0.1), SgdOptions{0.1, 0.9});
  expect_steps_of_the_tape<SGD>(named_layers(false, nn::Argument()), SgdOptions{0.1, 0.9});
}

TEST(TrainingStep, HasFormulasOfLayersByName) {
  const Problem problem = named_layers(true, 0.1);
  Random data(6);
  Sequential net = problem.net();
  SGD optimizer(net, {0.1, 0.9});
  const Batch first = problem.batch(data);
  const Graph step = training_step(net, first.x, first.labels, problem.loss, optimizer);
  State state;
  for (int i = 0; i < 5; ++i) {
    const Batch batch = problem.batch(data);
    double loss = 0;
    const double in_graph = step_in_graph(step, batch, state);
    step_on_tape(net, optimizer, problem, batch, loss);
    EXPECT_NEAR(in_graph, loss, 1e-5) << "step " << i;
  }
  for (const auto &[name, t] : net.state()) {
    const std::vector<double> x = t.reals(), y = state.at(name).reals();
    for (size_t k = 0; k < x.size(); ++k) EXPECT_NEAR(x[k], y[k], 1e-5) << name;
  }
}

TEST(TrainingStep, TakesTurnsWithTheTapeInTheNetsOwnMemory) {
  const Problem problem = pictures();
  Random data(6), same_data(6);
  Sequential other = problem.net();
  SGD other_optimizer(other, {0.1, 0.9});
  double loss = 0;
  for (int i = 0; i < 6; ++i) step_on_tape(other, other_optimizer, problem, problem.batch(same_data), loss);
  State want;
  for (const auto &[name, t] : state_of(other, other_optimizer)) want[name] = t.clone();
  Sequential net = problem.net();  // which begins the stream of random numbers anew
  SGD optimizer(net, {0.1, 0.9});
  step_on_tape(net, optimizer, problem, problem.batch(data), loss);
  const Batch like = {Tensor::outline({5, 2, 7, 9}), Tensor::outline({5}, Type::i64)};
  const Graph step = training_step(net, like.x, like.labels, problem.loss, optimizer);
  State state = state_of(net, optimizer);
  for (int i = 0; i < 4; ++i) {
    const Batch batch = problem.batch(data);
    if (i % 2 == 0)
      step_in_graph(step, batch, state);
    else
      step_on_tape(net, optimizer, problem, batch, loss);
  }
  State fresh = state_of(net, optimizer);
  step_in_graph(training_step(net, like.x, like.labels, problem.loss, optimizer), problem.batch(data), fresh);
  expect_same_bits(want, state_of(net, optimizer));
}

TEST(TrainingStep, LeavesTheNetAsItIsWhereItIsOnlyTraced) {
  const Problem problem = pictures();
  Random data(6);
  Sequential net = problem.net();
  State before;
  for (const auto &[name, t] : net.state()) before[name] = t.clone();
  const Batch batch = problem.batch(data);
  training_step(net, batch.x, batch.labels, problem.loss, SGD(net, {0.1, 0.9}));
  expect_same_bits(before, net.state());
}

TEST(TrainingStep, HasARateThatACallerSets) {
  const Problem problem = rows();
  Random data(6);
  Sequential net = problem.net();
  SGD optimizer(net, {0.1});
  const Batch batch = problem.batch(data);
  const Graph step = training_step(net, batch.x, batch.labels, problem.loss, optimizer);
  State state;
  step_in_graph(step, batch, state);
  state.at("rate") = Tensor::full({}, 0.025);
  step_in_graph(step, batch, state);
  double loss = 0;
  step_on_tape(net, optimizer, problem, batch, loss);
  optimizer.set_rate(0.025);
  step_on_tape(net, optimizer, problem, batch, loss);
  expect_same_bits(net.state(), state);
}

TEST(TrainingStep, IsSavedWithItsState) {
  const Problem problem = pictures();
  Random data(6);
  Sequential net = problem.net();
  const Batch batch = problem.batch(data);
  const Graph step = training_step(net, batch.x, batch.labels, problem.loss, Adam(net));
  EXPECT_EQ(step.given(), (std::vector<std::string>{"x", "labels"}));
  EXPECT_EQ(step.asked(), std::vector<std::string>{"loss"});
  const ScratchFolder folder;
  save_model(folder.file("step.safetensors"), step);
  const Graph back = load_model(folder.file("step.safetensors"));
  EXPECT_TRUE(is_same(back, step));
  State state, state_back;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(step_in_graph(step, batch, state), step_in_graph(back, batch, state_back));
  expect_same_bits(state, state_back);
}

// A layer that is applied twice blends its statistics twice and draws other numbers each time.
struct Twice : Module {
  nn::Layer norm = nn::BatchNorm1d(3), dropout = nn::Dropout(0.5), last = nn::Linear(3, 2);
  Variable forward(const Variable &x) override { return last(dropout(norm(dropout(norm(x))))); }
  void visit(Visitor &v) override {
    v.child("norm", norm);
    v.child("dropout", dropout);
    v.child("last", last);
  }
};

TEST(TrainingStep, OfALayerThatIsAppliedTwiceKeepsTheLastState) {
  nn::manual_seed(1);
  Random data(2);
  Twice net;
  SGD optimizer(net, {0.1});
  const Problem problem = {{}, {}, mean_squared_error};
  const Batch batch = {data.uniform_tensor({4, 3}, -1, 1), data.uniform_tensor({4, 2}, -1, 1)};
  const Graph step = training_step(net, batch.x, batch.labels, problem.loss, optimizer);
  State state;
  for (int i = 0; i < 3; ++i) {
    double loss = 0;
    step_in_graph(step, batch, state);
    step_on_tape(net, optimizer, problem, batch, loss);
  }
  EXPECT_EQ(state.at("norm.num_batches_tracked").integers(), std::vector<int64_t>{6});
  EXPECT_EQ(state.at("random").integers()[1], 3 * 2 * 12);
  expect_same_bits(state_of(net, optimizer), state);
}

TEST(TrainingStep, LeavesFrozenAndUnreachedParametersAlone) {
  struct Net : Module {
    Variable used{Tensor::full({3}, 1), true}, frozen{Tensor::full({3}, 1), false}, other{Tensor::full({3}, 1), true};
    Variable forward(const Variable &x) override { return x * used + frozen; }
    void visit(Visitor &v) override {
      v.parameter("used", used);
      v.parameter("frozen", frozen);
      v.parameter("other", other);
    }
  } net;
  const Graph step =
      training_step(net, Tensor::outline({2, 3}), Tensor::outline({2, 3}), mean_squared_error, SGD(net, {0.1}));
  std::vector<std::string> names;
  for (const Graph::State &s : step.state) names.push_back(s.value);
  EXPECT_EQ(names, (std::vector<std::string>{"used", "steps.used", "rate"}));
}

TEST(TrainingStep, OfAGraphWithALossTrainsItsConstants) {
  Random random(3);
  Graph g;
  g.add_input("x", {4, 3});
  g.add_constant("w", random.uniform_tensor({2, 3}, -1, 1));
  g.add_node("dense", {"x", "w"}, "y", {4, 2});
  g.add_node("square", {"y"}, "squares", {4, 2});
  g.outputs = {g.add_node("sum", {"squares"}, "loss", {1, 1}, {{"axes", Shape{0, 1}}, {"scale", 0.125}})};
  const Attributes plain = {{"momentum", 0.0}, {"dampening", 0.0}, {"weight_decay", 0.0}, {"nesterov", int64_t{0}}};
  const Graph step = training_step(g, "loss", {"w"}, {"sgd", plain, {}, 0.5});
  const Tensor x = random.uniform_tensor({4, 3}, -1, 1);
  State state;
  std::vector<double> losses;
  for (int i = 0; i < 30; ++i) losses.push_back(run(step, {{"x", x}}, state).at("loss").item());
  for (size_t i = 1; i < losses.size(); ++i) EXPECT_LT(losses[i], losses[i - 1]);
  expect_error([&] { training_step(g, "y", {"w"}, {"sgd", plain, {}, 0.5}); }, {"'y'", "[4, 2]", "one element"});
  expect_error([&] { training_step(g, "loss", {"x"}, {"sgd", plain, {}, 0.5}); }, {"'x' is no constant"});
  expect_error([&] { training_step(g, "loss", {}, {"sgd", plain, {}, 0.5}); }, {"depends on no parameter"});
}

// The last layer's update does not wait for the first layer's gradient, but for whoever reads what it replaces.
TEST(TrainingStep, UpdatesAsSoonAsItCan) {
  Sequential net(nn::Linear(3, 4), nn::Tanh(), nn::Linear(4, 4), nn::Tanh(), nn::Linear(4, 2));
  const Graph step =
      training_step(net, Tensor::zeros({5, 3}), Tensor::zeros({5, 2}), mean_squared_error, SGD(net, {0.1}));
  const auto updated = [&](const std::string &parameter) {
    std::ptrdiff_t at = -1;
    for (size_t i = 0; i < step.nodes.size(); ++i) {
      const std::vector<std::string> &in = step.nodes[i].inputs;
      if (std::find(in.begin(), in.end(), parameter) == in.end()) continue;
      EXPECT_LT(at, 0) << parameter << " is read by " << describe(step.nodes[i]) << " behind its update";
      if (step.nodes[i].operation == "sgd") at = static_cast<std::ptrdiff_t>(i);
    }
    EXPECT_GE(at, 0) << parameter;
    return at;
  };
  EXPECT_LT(updated("4.weight"), updated("2.weight"));
  EXPECT_LT(updated("2.weight"), updated("0.weight"));
  const auto begin = step.nodes.begin();
  EXPECT_FALSE(std::all_of(begin + updated("4.weight"), begin + updated("0.weight"), [](const Graph::Node &n) {
    return n.operation == "sgd";
  })) << "gradients come in between";
}

TEST(TrainingStep, OfSparseAdamIsNotSupported) {
  Sequential net(nn::Embedding(3, 2));
  expect_error(
      [&] {
        training_step(net, Tensor::outline({2}, Type::i64), Tensor::outline({2, 2}), mean_squared_error,
                      SparseAdam(net));
      },
      {"SparseAdam", "dense"});
}

TEST(TrainingStep, NamesThatAreTakenAreAnError) {
  struct Net : Module {
    Variable rate{Tensor::full({3}, 1), true};
    Variable forward(const Variable &x) override { return x * rate; }
    void visit(Visitor &v) override { v.parameter("rate", rate); }
  } net;
  expect_error(
      [&] {
        training_step(net, Tensor::outline({2, 3}), Tensor::outline({2, 3}), mean_squared_error, SGD(net, {0.1}));
      },
      {"'rate'"});
}

}  // namespace
}  // namespace saltern
