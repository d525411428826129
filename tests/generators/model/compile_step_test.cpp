// A compiled step trains as the tape does, in the memory of net and optimizer.

#include "generators/model/compile_step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "generators/model/temporary_folder.h"
#include "runtime/autograd/backward.h"
#include "runtime/layers/random_stream.h"
#include "runtime/optim/clipping.h"
#include "tests/errors.h"
#include "tests/training_problems.h"

namespace saltern {
namespace {

using namespace nn::literals;

Variable mean_cross_entropy(const Variable &y, const Variable &labels) { return cross_entropy(y, labels, -100); }

Tensor class_numbers(Random &random, const Shape &shape, int64_t count) {
  return classes(random, elements(shape), count).reshaped(shape);
}

Problem rows_of_numbers() {
  return {[] { return Sequential(nn::Linear(6, 16), nn::GELU(), nn::Linear(16, 3)); },
          [](Random &random) {
            return Batch{random.uniform_tensor({8, 6}, -1, 1), classes(random, 8, 3)};
          },
          mean_cross_entropy};
}

Problem lstm() {
  return {[] { return Sequential(nn::LSTM(4, 5, "batch_first"_a = true), nn::Flatten(), nn::Linear(30, 2)); },
          [](Random &random) {
            return Batch{random.uniform_tensor({3, 6, 4}, -1, 1), random.uniform_tensor({3, 2}, -1, 1)};
          },
          mean_squared_error};
}

Problem transformer() {
  return {[] {
            return Sequential(nn::TransformerEncoderLayer(8, 2, 16, "dropout"_a = 0.1, "batch_first"_a = true),
                              nn::Flatten(), nn::Linear(40, 3));
          },
          [](Random &random) {
            return Batch{random.uniform_tensor({4, 5, 8}, -1, 1), classes(random, 4, 3)};
          },
          mean_cross_entropy};
}

Problem words() {
  return {[] { return Sequential(nn::Embedding(11, 6), nn::Flatten(), nn::Linear(24, 4)); },
          [](Random &random) {
            return Batch{class_numbers(random, {5, 4}, 11), classes(random, 5, 4)};
          },
          mean_cross_entropy};
}

// One for all tests: what kernels they share is compiled once.
const std::string &cache() {
  static const generators::TemporaryFolder folder;
  setenv("SALTERN_CACHE", folder.path().c_str(), 1);
  return folder.path();
}

struct Training {
  Sequential net;
  std::unique_ptr<Optimizer> optimizer;
  Random data{7};

  explicit Training(const Problem &problem, bool adam = false) : net(seeded(problem)) {
    cache();
    if (adam)
      optimizer = std::make_unique<AdamW>(net, AdamOptions{0.003, 0.9, 0.999, 1e-4, 0.01});
    else
      optimizer = std::make_unique<SGD>(net, SgdOptions{0.05, 0.9});
  }
  static Sequential seeded(const Problem &problem) {
    nn::manual_seed(5);
    return problem.net();
  }
  State state() {
    State all = net.state();
    for (const auto &[name, t] : optimizer->state()) all[name] = t;
    all["random"] = random_stream();
    State copies;
    for (const auto &[name, t] : all) copies[name] = t.clone();
    return copies;
  }
  CompiledStep compiled(const Problem &problem, int threads) {
    Random any(1);
    const Batch like = problem.batch(any);
    return compile_step(net, problem.loss, *optimizer, like.x, like.labels, {threads, nullptr});
  }
};

double on_tape(Training &t, const Problem &problem, const Batch &batch) {
  const Variable loss = problem.loss(t.net(batch.x), batch.labels);
  backward(loss);
  t.optimizer->step();
  t.optimizer->clear_gradients();
  return loss.value().item();
}

void expect_near(const State &got, const State &want, double tolerance) {
  for (const auto &[name, t] : want) {
    const std::vector<double> a = got.at(name).reals(), b = t.reals();
    double difference = 0, size = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      difference = std::max(difference, std::fabs(a[i] - b[i]));
      size = std::max(size, std::fabs(b[i]));
    }
    EXPECT_LE(difference, tolerance * (size + 1e-2)) << name;
  }
}

// After one step the gradients are known by the momentum, which is nothing but the gradient then.
void expect_steps_of_the_tape(const Problem &problem, bool adam) {
  State want, want_first, after_two_threads;
  std::vector<double> losses;
  {
    Training t(problem, adam);
    for (int i = 0; i < 100; ++i) {
      if (i == 1) want_first = t.state();
      losses.push_back(on_tape(t, problem, problem.batch(t.data)));
    }
    want = t.state();
  }
  for (int threads : {2, 1}) {
    Training t(problem, adam);
    const CompiledStep step = t.compiled(problem, threads);
    EXPECT_TRUE(step.copied().empty()) << step.copied()[0];
    for (int i = 0; i < 100; ++i) {
      if (i == 1) expect_near(t.state(), want_first, 1e-4);
      const Batch batch = problem.batch(t.data);
      ASSERT_NEAR(step(batch.x, batch.labels), losses[static_cast<size_t>(i)], 2e-3 * (1 + losses[0])) << "step " << i;
    }
    const State now = t.state();
    expect_near(now, want, 2e-2);
    EXPECT_EQ(now.at("random").integers(), want.at("random").integers());
    if (after_two_threads.empty()) after_two_threads = now;
    for (const auto &[name, x] : now)
      EXPECT_EQ(std::memcmp(x.raw(), after_two_threads.at(name).raw(), x.bytes()), 0) << name << " by threads";
  }
}

TEST(CompiledStep, TrainsAsTheTapeDoes) {
  expect_steps_of_the_tape(rows_of_numbers(), false);
  expect_steps_of_the_tape(rows_of_numbers(), true);
}
TEST(CompiledStep, TrainsConvolutionsWithBatchNormAndDropout) { expect_steps_of_the_tape(pictures(), false); }
TEST(CompiledStep, TrainsAnLstm) { expect_steps_of_the_tape(lstm(), false); }
TEST(CompiledStep, TrainsATransformer) { expect_steps_of_the_tape(transformer(), false); }
TEST(CompiledStep, TrainsAnEmbedding) { expect_steps_of_the_tape(words(), false); }

TEST(CompiledStep, TakesTurnsWithTheTapeAndFollowsTheRate) {
  const Problem problem = pictures();
  State want;
  const auto rate = [](int i) { return i < 3 ? 0.05 : 0.01; };
  {
    Training t(problem);
    for (int i = 0; i < 6; ++i) {
      t.optimizer->set_rate(rate(i));
      on_tape(t, problem, problem.batch(t.data));
    }
    want = t.state();
  }
  Training t(problem);
  const CompiledStep step = t.compiled(problem, 1);
  for (int i = 0; i < 6; ++i) {
    t.optimizer->set_rate(rate(i));
    const Batch batch = problem.batch(t.data);
    if (i % 2 == 0)
      step(batch.x, batch.labels);
    else
      on_tape(t, problem, batch);
  }
  expect_near(t.state(), want, 1e-4);
  // What is loaded is what steps go on from.
  Training other(problem);
  other.net.load_state(t.net.state());
  other.optimizer->load_state(t.optimizer->state());
  random_stream().copy_from(want.at("random"));
  const CompiledStep same = other.compiled(problem, 1);
  const Batch batch = problem.batch(t.data);
  const float loss = step(batch.x, batch.labels);
  random_stream().copy_from(want.at("random"));
  EXPECT_EQ(same(batch.x, batch.labels), loss);
  expect_error([&] { step(batch.x, batch.x); }, {"'labels'", "i64 [5]"});
  Sequential stranger(nn::Linear(2, 2));
  SGD of_stranger(stranger, {0.1, 0.9});
  expect_error([&] { compile_step(t.net, problem.loss, of_stranger, batch.x, batch.labels); }, {"of another net"});
}

// Gradients whose norm is above are scaled down, as those of the tape.
TEST(CompiledStep, ClipsGradients) {
  const Problem problem = rows_of_numbers();
  constexpr double most = 0.1;
  std::vector<State> found;
  for (const bool compiled : {false, true}) {
    Training t(problem, true);
    Random any(1);
    const Batch like = problem.batch(any);
    StepOptions options;
    options.clip_norm = most;
    std::optional<CompiledStep> step;
    if (compiled) step = compile_step(t.net, problem.loss, *t.optimizer, like.x, like.labels, options);
    for (int i = 0; i < 4; ++i) {
      const Batch batch = problem.batch(t.data);
      if (compiled) {
        (*step)(batch.x, batch.labels);
        continue;
      }
      backward(problem.loss(t.net(batch.x), batch.labels));
      const std::vector<Variable> all = t.net.parameters();
      const double norm = total_norm(gradients_of(all));
      EXPECT_GT(norm, most) << "nothing is clipped";
      scale_gradients(all, most / norm);
      t.optimizer->step();
      t.optimizer->clear_gradients();
    }
    found.push_back(t.state());
  }
  expect_near(found[1], found[0], 1e-4);
}

// Three batches make a step, and two the last one, as gradients of the tape are added up.
TEST(CompiledStep, AddsUpGradientsOfSeveralBatches) {
  for (const Problem &problem : {rows_of_numbers(), pictures()}) {
    State want;
    constexpr int batches = 8, together = 3;
    {
      Training t(problem, true);
      for (int i = 0; i < batches; ++i) {
        const int of = i < 6 ? together : 2;
        const Batch batch = problem.batch(t.data);
        const Variable loss = problem.loss(t.net(batch.x), batch.labels);
        backward(loss, Tensor::full(loss.shape(), 1.0 / of));
        if (i % together != together - 1 && i != batches - 1) continue;
        t.optimizer->step();
        t.optimizer->clear_gradients();
      }
      want = t.state();
    }
    Training t(problem, true);
    Random any(1);
    const Batch like = problem.batch(any);
    StepOptions options;
    options.accumulate = together;
    const CompiledStep step = compile_step(t.net, problem.loss, *t.optimizer, like.x, like.labels, options);
    const State before = t.state();
    for (int i = 0; i < batches; ++i) {
      const Batch batch = problem.batch(t.data);
      step(batch.x, batch.labels);
      if (i != 1) continue;
      EXPECT_EQ(t.state().at("0.weight").reals(), before.at("0.weight").reals()) << "moved too early";
    }
    step.finish();
    step.finish();  // there is nothing left
    expect_near(t.state(), want, 1e-3);
  }
  Training t(rows_of_numbers());
  Random any(1);
  const Batch like = rows_of_numbers().batch(any);
  expect_error(
      [&] {
        compile_step(t.net, mean_cross_entropy, *t.optimizer, like.x, like.labels, {1, nullptr, 0, 0});
      },
      {"of 0 batches"});
}

// What lies otherwise than kernels want it is copied there and back.
TEST(CompiledStep, CopiesWhatLiesOtherwise) {
  struct Net : Module {
    Variable weight{Tensor::empty({4, 3, 2, 2}), true};
    Variable forward(const Variable &x) override { return nn::flatten(nn::conv2d(x, weight), 1); }
    void visit(Visitor &v) override { v.parameter("weight", weight); }
  };
  Random random(3);
  const Tensor x = random.uniform_tensor({2, 3, 4, 4}, -1, 1), y = random.uniform_tensor({2, 36}, -1, 1),
               begin = random.uniform_tensor({4, 3, 2, 2}, -1, 1);
  Net by_tape, compiled;
  for (Net *net : {&by_tape, &compiled}) net->weight.value().copy_from(begin);
  SGD on_tape(by_tape, {0.1, 0.9}), in_plan(compiled, {0.1, 0.9});
  const CompiledStep step = compile_step(compiled, mean_squared_error, in_plan, x, y);
  EXPECT_EQ(step.copied(), (std::vector<std::string>{"weight", "momentum.weight"}));
  for (int i = 0; i < 3; ++i) {
    const Variable loss = mean_squared_error(by_tape(x), y);
    backward(loss);
    on_tape.step();
    on_tape.clear_gradients();
    EXPECT_NEAR(step(x, y), loss.value().item(), 1e-5);
  }
  expect_near(compiled.state(), by_tape.state(), 1e-5);
  expect_near(in_plan.state(), on_tape.state(), 1e-5);
}

TEST(CompiledStep, IsKeptOnceForAllParameters) {
  const Problem problem = rows_of_numbers();
  const auto models = [&] {
    const std::filesystem::directory_iterator all(cache() + "/models");
    return std::distance(begin(all), end(all));
  };
  std::ptrdiff_t kept = 0;
  for (int times = 0; times < 2; ++times) {
    Training t(problem);
    Random other(static_cast<uint64_t>(times));
    for (const Variable &p : t.net.parameters()) p.value().copy_from(other.uniform_tensor(p.shape(), -1, 1));
    const CompiledStep step = t.compiled(problem, 1);
    const Batch batch = problem.batch(t.data);
    const double loss = problem.loss(t.net(batch.x), batch.labels).value().item();
    EXPECT_NEAR(step(batch.x, batch.labels), loss, 1e-5);
    if (times == 0) kept = models();
    EXPECT_EQ(models(), kept);
  }
}

}  // namespace
}  // namespace saltern
