// The table of optimizers: kernels are their formulas, graphs step as the tape does, groups, state, and mistakes.

#include <gtest/gtest.h>

#include "runtime/autograd/backward.h"
#include "runtime/autograd/formula_operation.h"
#include "runtime/optim/averages.h"
#include "runtime/optim/clipping.h"
#include "runtime/optim/lbfgs.h"
#include "runtime/optim/loss_scale.h"
#include "tests/errors.h"
#include "tests/training_problems.h"

namespace saltern {
namespace {

// Rows with options that choose other formulas.
std::vector<std::pair<std::string, Attributes>> all_updates() {
  std::vector<std::pair<std::string, Attributes>> all = {
      {"sgd", {{"momentum", 0.9}, {"dampening", 0.25}, {"weight_decay", 0.1}}},
      {"sgd", {{"momentum", 0.9}, {"nesterov", yes}, {"maximize", yes}}},
      {"adam", {{"amsgrad", yes}, {"weight_decay", 0.1}}},
      {"rmsprop", {{"momentum", 0.5}}},
      {"rmsprop", {{"momentum", 0.5}, {"centered", yes}}},
      {"keras.rmsprop", {{"momentum", 0.5}}},
      {"asgd", {{"t0", 2.0}}}};
  for (const OptimizerRow &row : optimizer_rows())
    if (row.rule && !row.only_touched) all.emplace_back(row.name, Attributes());
  return all;
}

double difference(const Tensor &a, const Tensor &b) {
  double most = 0;
  const std::vector<double> x = a.reals(), y = b.reals();
  for (size_t i = 0; i < x.size(); ++i) most = std::max(most, std::fabs(x[i] - y[i]) / (1 + std::fabs(y[i])));
  return most;
}

TEST(Optimizers, KernelsAreTheirFormulas) {
  for (const auto &[name, options] : all_updates()) {
    const Update update = update_of(name, options);
    const Operation *operation = find_operation(update.operation);
    Random random(3);
    std::vector<Tensor> in = {random.uniform_tensor({5, 7}, -1, 1), random.uniform_tensor({5, 7}, -1, 1),
                              Tensor::full({}, 0.125), Tensor::full({}, 3, Type::i64)};
    for (const auto &[slot, begins] : slots_of(update, in[0]))
      in.push_back(begins.rank() == 0 ? begins : random.uniform_tensor(begins.shape(), 0.5, 1));
    const std::vector<Tensor> made = operation->compute(in, update.attributes),
                              said = computed_by_formula(*operation, in, update.attributes);
    ASSERT_EQ(made.size(), said.size()) << name;
    EXPECT_GT(difference(made[0], in[0]), 1e-3) << name;
    for (size_t i = 0; i < made.size(); ++i) EXPECT_LE(difference(made[i], said[i]), 2e-6) << name << ", result " << i;
  }
}

// Of matrices and vectors, so that what goes by rank is there; Muon of PyTorch takes matrices alone.
TEST(Optimizers, AGraphStepsAsTheTapeDoes) {
  const Problem problem = rows();
  for (const auto &[name, options] : all_updates()) {
    Sequential net = problem.net();
    if (name == "Muon")
      for (const auto &[parameter, v] : net.named_parameters())
        if (v.rank() != 2) v.set_requires_gradient(false);
    std::vector<std::pair<std::string, Variable>> moved;
    for (const auto &p : net.named_parameters())
      if (p.second.requires_gradient()) moved.push_back(p);
    Optimizer tape(name, {{moved}}, options);
    Random data(6);
    const Batch first = problem.batch(data);
    const Graph step = training_step(net, first.x, first.labels, problem.loss, tape);
    State state;
    for (int i = 0; i < 3; ++i) {
      const Batch batch = problem.batch(data);
      const Variable loss = problem.loss(net(batch.x), batch.labels);
      backward(loss);
      tape.step();
      tape.clear_gradients();
      EXPECT_EQ(step_in_graph(step, batch, state), loss.value().item()) << name << ", step " << i;
    }
    for (const auto &[key, t] : tape.state()) EXPECT_EQ(state.at(key).reals(), t.reals()) << name << ": " << key;
    for (const auto &[key, t] : moved) EXPECT_EQ(state.at(key).reals(), t.value().reals()) << name << ": " << key;
  }
}

TEST(Optimizers, OtherTypesGoByTheFormula) {
  for (const char *name : {"adam", "keras.lion", "rmsprop"}) {
    Random random(4);
    const Tensor p = random.uniform_tensor({6}, -1, 1), g = random.uniform_tensor({6}, -1, 1);
    const auto in_type = [](const Tensor &t, Type type) {
      const Tensor made = Tensor::empty(t.shape(), type);
      for (int64_t i = 0; i < t.size(); ++i)
        if (type == Type::f64)
          made.data<double>()[i] = t.data<float>()[i];
        else
          made.data<float>()[i] = t.data<float>()[i];
      return made;
    };
    std::vector<Tensor> ended;
    for (const Type type : {Type::f32, Type::f64}) {
      Variable v(in_type(p, type), true);
      Optimizer o(name, {{{{"p", v}}}});
      for (int i = 0; i < 3; ++i) {
        v.set_gradient(in_type(g, type));
        o.step();
      }
      ended.push_back(v.value());
    }
    EXPECT_LE(difference(ended[0], ended[1]), 1e-6) << name;
  }
}

TEST(Optimizers, GroupsHaveRatesAndOptionsOfTheirOwn) {
  Variable a(Tensor::full({2}, 1), true), b(Tensor::full({2}, 1), true);
  Optimizer o("sgd", {{{{"a", a}}}, {{{"b", b}}, {{"lr", 0.25}, {"weight_decay", 0.5}}}}, {{"lr", 0.5}});
  for (const Variable &v : {a, b}) v.set_gradient(Tensor::full({2}, 1));
  o.step();
  EXPECT_EQ(a.value().reals(), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(b.value().reals(), (std::vector<double>{0.625, 0.625}));
  o.set_rate(1, 0);
  o.step();
  EXPECT_EQ(a.value().reals(), (std::vector<double>{0, 0}));
  EXPECT_EQ(b.value().reals(), (std::vector<double>{0.625, 0.625}));
  EXPECT_EQ(o.rate(0), 0.5);
  EXPECT_EQ(o.update_of("b").rate_name, "rate.1");
  expect_error([&] { o.add_group({{{"c", a}}}); }, {"'c'", "twice", "'a'"});
}

TEST(Optimizers, GroupsAreInTheGraphToo) {
  const Problem problem = rows();
  Sequential net = problem.net();
  std::vector<std::pair<std::string, Variable>> weights, others;
  for (const auto &p : net.named_parameters()) (p.second.rank() == 2 ? weights : others).push_back(p);
  Optimizer tape("adamw", {{weights}, {others, {{"lr", 0.01}, {"weight_decay", 0.0}}}}, {{"lr", 0.05}});
  Random data(6);
  const Batch batch = problem.batch(data);
  const Graph step = training_step(net, batch.x, batch.labels, problem.loss, tape);
  State state;
  for (int i = 0; i < 3; ++i) {
    const Variable loss = problem.loss(net(batch.x), batch.labels);
    backward(loss);
    tape.step();
    tape.clear_gradients();
    EXPECT_EQ(step_in_graph(step, batch, state), loss.value().item());
  }
  EXPECT_FLOAT_EQ(static_cast<float>(state.at("rate.1").item()), 0.01f);
}

TEST(Optimizers, StateGoesOutAndIn) {
  for (const char *name : {"nadam", "adafactor", "keras.schedulefreeadamw"}) {
    Random random(5);
    const Tensor start = random.uniform_tensor({3, 4}, -1, 1), g = random.uniform_tensor({3, 4}, -1, 1);
    Variable a(start.clone(), true), b(start.clone(), true);
    Optimizer first(name, {{{{"p", a}}}}), second(name, {{{{"p", b}}}});
    const auto step = [&](Optimizer &o, const Variable &v) {
      v.set_gradient(g);
      o.step();
    };
    for (int i = 0; i < 2; ++i) step(first, a);
    b.value().copy_from(a.value());
    second.load_state(first.state());
    step(first, a);
    step(second, b);
    EXPECT_EQ(a.value().reals(), b.value().reals()) << name;
  }
}

TEST(Clipping, ScalesAllGradientsTogether) {
  Variable a(Tensor::zeros({2}), true), b(Tensor::zeros({1}), true), none(Tensor::zeros({3}), true);
  a.set_gradient(Tensor::of<float>({2}, {2, -3}));
  b.set_gradient(Tensor::of<float>({1}, {6}));
  EXPECT_DOUBLE_EQ(clip_gradient_norm({a, b, none}, 3.5), 7);
  EXPECT_NEAR(a.gradient().value().reals()[1], -1.5, 1e-6);
  EXPECT_NEAR(b.gradient().value().item(), 3, 1e-6);
  clip_gradient_value({a, b, none}, 1.25);
  EXPECT_EQ(a.gradient().value().reals()[1], -1.25);
}

TEST(LossScale, IsTakenBackAndFollowsGradients) {
  Variable p(Tensor::full({1}, 3), true);
  LossScale scale = {8, 2};
  for (const double wanted : {8.0, 16.0}) {
    p.set_gradient({});
    backward(scale.scaled(sum(p * p)));
    EXPECT_TRUE(scale.unscale({p}));
    EXPECT_EQ(p.gradient().value().item(), 6);
    EXPECT_EQ(scale.scale, wanted);
  }
  p.set_gradient(Tensor::full({1}, INFINITY));
  EXPECT_FALSE(scale.unscale({p}));
  EXPECT_EQ(scale.scale, 8);
}

TEST(Averages, AreOfAllStepsOrOfRecentOnes) {
  nn::manual_seed(1);
  Sequential net(nn::Linear(2, 1));
  const Tensor w = net.state().at("0.weight");
  Averages alike(net), recent(net, 0.75);
  for (const double value : {1.0, 2.0, 3.0}) {
    w.copy_from(Tensor::full({1, 2}, value));
    alike.update();
    recent.update();
  }
  EXPECT_NEAR(alike.state().at("0.weight").reals()[0], 2, 1e-6);
  EXPECT_NEAR(recent.state().at("0.weight").reals()[1], 1.6875, 1e-6);
  {
    const Averages::Swapped now(&alike);
    EXPECT_NEAR(w.reals()[0], 2, 1e-6);
  }
  EXPECT_EQ(w.reals()[0], 3);
}

TEST(Lbfgs, FindsTheLeastOfAParabolaInAFewSteps) {
  Variable p(Tensor::of<float>({3}, {3, -2, 1}), true);
  const Variable scales(Tensor::of<float>({3}, {1, 10, 100})), wanted(Tensor::of<float>({3}, {1, 2, 3}));
  Lbfgs lbfgs({p}, {{"line_search_fn", "strong_wolfe"}});
  const auto closure = [&] {
    p.set_gradient({});
    const Variable loss = sum(scales * (p - wanted) * (p - wanted));
    backward(loss);
    return loss.value().item();
  };
  EXPECT_GT(lbfgs.step(closure), 100);
  EXPECT_LT(lbfgs.step(closure), 1e-8);
  EXPECT_LE(lbfgs.state.evaluations, 25);
}

TEST(Optimizers, MistakesAreNamed) {
  Variable p(Tensor::full({2}, 1), true);
  expect_error([] { update_of("adan"); }, {"no optimizer 'adan'"});
  expect_error([] { update_of("adam", {{"beta", 0.5}}); }, {"Adam", "no option 'beta'"});
  expect_error([] { update_of("adam", {{"lr", -1.0}}); }, {"Adam", "'lr' is -1", "at least 0"});
  expect_error([] { update_of("adam", {{"betas", Reals{0.5, 1}}}); }, {"'betas' is 1", "below 1"});
  expect_error([] { update_of("adam", {{"betas", Reals{0.5}}}); }, {"'betas' has 1 numbers; expected 2"});
  expect_error([] { update_of("adam", {{"eps", "small"}}); }, {"'eps' is a word; expected a number"});
  expect_error([&] { Optimizer("sgd", {{{{"p", p}}}}, {{"nesterov", yes}}); }, {"'nesterov' asks for a momentum"});
  expect_error([&] { Optimizer("muon", {{{{"p", p}}}}); }, {"Muon", "[2]", "matrices"});
  expect_error([&] { Optimizer("lbfgs", {{{{"p", p}}}}); }, {"LBFGS", "needs the loss"});
}

}  // namespace
}  // namespace saltern
