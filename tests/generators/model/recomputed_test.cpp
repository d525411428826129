// Training steps in less memory: what is made again is what was made, and the plan is as small as asked for.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "generators/model/compile_step.h"
#include "generators/model/memory_budget.h"
#include "generators/model/passes/passes.h"
#include "generators/model/recomputation.h"
#include "generators/model/temporary_folder.h"
#include "tests/errors.h"
#include "tests/training_problems.h"

namespace saltern {
namespace {

using generators::Recomputation;

Problem deep() {
  return {[] {
            nn::manual_seed(5);
            Sequential net(nn::Conv2d(2, 8, 3, 1, 1));
            for (int i = 0; i < 5; ++i) {
              net.add(nn::Conv2d(8, 8, 3, 1, 1));
              net.add(nn::BatchNorm2d(8));
              net.add(nn::ReLU());
            }
            net.add(nn::Dropout(0.25));
            net.add(nn::Flatten());
            net.add(nn::Linear(8 * 12 * 12, 3));
            return net;
          },
          [](Random &random) {
            return Batch{random.uniform_tensor({4, 2, 12, 12}, -1, 1), classes(random, 4, 3)};
          },
          [](const Variable &y, const Variable &labels) { return cross_entropy(y, labels, -100); }};
}

Graph prepared_step(const Problem &problem) {
  Random data(6);
  Sequential net = problem.net();
  const Batch batch = problem.batch(data);
  return generators::prepared_for_inference(
      training_step(net, batch.x, batch.labels, problem.loss, SGD(net, {0.1, 0.9})));
}

// All outputs and state after some steps.
State after_steps(const Problem &problem, const Graph &step) {
  State state;
  Random data(7);
  for (int i = 0; i < 3; ++i) {
    const Batch batch = problem.batch(data);
    state["loss" + std::to_string(i)] = Tensor::full({}, step_in_graph(step, batch, state));
  }
  return state;
}

void expect_same_bits(const State &a, const State &b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto &[name, t] : a) EXPECT_EQ(std::memcmp(t.raw(), b.at(name).raw(), t.bytes()), 0) << name;
}

TEST(Recomputed, ValuesAreWhatTheyWere) {
  for (const Problem &problem : {pictures(), rows()}) {
    const Graph step = prepared_step(problem);
    const State want = after_steps(problem, step);
    std::unordered_set<std::string> all;
    for (const Graph::Node &n : step.nodes) all.insert(n.outputs.begin(), n.outputs.end());
    const Graph twice = generators::with_recomputed(step, all, "loss");
    EXPECT_NO_THROW(validate(twice));
    EXPECT_GT(twice.nodes.size(), step.nodes.size());
    expect_same_bits(after_steps(problem, twice), want);
    EXPECT_TRUE(is_same(generators::with_recomputed(step, {}, "loss"), step));
  }
}

TEST(Recomputed, FitsIntoWhatItIsGiven) {
  const Problem problem = deep();
  const Graph step = prepared_step(problem);
  const State want = after_steps(problem, step);
  const int64_t plain = generators::workspace_bytes(step);
  EXPECT_TRUE(is_same(generators::within_memory(step, plain, 0), step));
  size_t nodes = step.nodes.size();
  for (double share : {0.8, 0.6}) {
    const auto bytes = static_cast<int64_t>(static_cast<double>(plain) * share);
    const Graph less = generators::within_memory(step, bytes, 0);
    EXPECT_LE(generators::workspace_bytes(less), bytes);
    EXPECT_GE(less.nodes.size(), nodes) << "less memory takes no less work";
    nodes = less.nodes.size();
    expect_same_bits(after_steps(problem, less), want);
  }
  EXPECT_GT(nodes, step.nodes.size());
  // What an error says is rounded up: whoever gives it back is served.
  expect_error([&] { generators::within_memory(step, 1000, 5000000); }, {"not possible", "5.1 MB"});
}

// What is made again is counted once, however many read it, and less memory is reached for less than all of it.
TEST(Recomputed, CostsWhatItCosts) {
  const Graph step = prepared_step(deep());
  const Recomputation recomputation(step, "loss");
  Recomputation::Choice choice(recomputation.units().size(), false);
  const Recomputation::Cost none = recomputation.of(choice);
  EXPECT_EQ(none.microseconds, 0);
  double all = 0;
  for (size_t u = 0; u < recomputation.forward(); ++u) {
    choice[u] = true;
    all += recomputation.units()[u].microseconds;
  }
  EXPECT_LE(recomputation.of(choice).microseconds, all);
  EXPECT_GT(recomputation.of(choice).microseconds, 0);
  const Recomputation::Choice some = recomputation.cheapest(none.bytes * 7 / 10);
  EXPECT_LE(recomputation.of(some).bytes, none.bytes * 7 / 10);
  EXPECT_LT(recomputation.of(some).microseconds, all);
}

TEST(Recomputed, StepsTrainAsOthersDo) {
  const generators::TemporaryFolder cache;
  setenv("SALTERN_CACHE", cache.path().c_str(), 1);
  const Problem problem = deep();
  const auto trained = [&](int64_t memory, size_t &bytes) {
    nn::manual_seed(5);
    Sequential net = problem.net();
    SGD optimizer(net, {0.05, 0.9});
    Random data(7);
    const Batch like = problem.batch(data);
    const CompiledStep step = compile_step(net, problem.loss, optimizer, like.x, like.labels, {1, nullptr, memory});
    bytes = step.memory_bytes();
    State all;
    for (int i = 0; i < 10; ++i) {
      const Batch batch = problem.batch(data);
      all["loss" + std::to_string(i)] = Tensor::full({}, step(batch.x, batch.labels));
    }
    for (const auto &[name, t] : net.state()) all[name] = t;
    return all;
  };
  size_t plain = 0, less = 0;
  const State want = trained(0, plain);
  const auto budget = static_cast<int64_t>(plain * 8 / 10);
  const State got = trained(budget, less);
  EXPECT_LE(less, static_cast<size_t>(budget));
  for (const auto &[name, t] : want) {
    const std::vector<double> a = t.reals(), b = got.at(name).reals();
    for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-4 * (1 + std::fabs(a[i]))) << name;
  }
  expect_error([&] { trained(1000, less); }, {"not possible", "KB"});
}

// A gradient reads the result of a rectifier, and what comes before it is read by nobody else.
TEST(Recomputed, MasksComeFromResults) {
  Problem problem = rows();
  problem.net = [] {
    nn::manual_seed(5);
    return Sequential(nn::Linear(6, 8), nn::ReLU(), nn::Linear(8, 8), nn::ReLU(), nn::Linear(8, 2));
  };
  Random data(6);
  Sequential net = problem.net();
  const Batch batch = problem.batch(data);
  const Graph step = training_step(net, batch.x, batch.labels, problem.loss, SGD(net, {0.1, 0.9}));
  const Graph before = generators::with_compilable_operations(step), after = generators::with_masks_of_results(before);
  int rectifiers = 0;
  for (const Graph::Node &n : after.nodes)
    if (n.label.rfind("relu", 0) == 0 && n.label.find("gradient") == std::string::npos) {
      ++rectifiers;
      EXPECT_EQ(after.uses(n.inputs.at(0)), 1) << n.label;
      EXPECT_EQ(before.uses(n.inputs.at(0)), 2) << n.label;
    }
  EXPECT_EQ(rectifiers, 2);
  expect_same_bits(after_steps(problem, after), after_steps(problem, before));
}

}  // namespace
}  // namespace saltern
