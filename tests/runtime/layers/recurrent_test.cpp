// Recurrent layers beside naive loops of what PyTorch's documentation says they are.

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/autograd/backward.h"
#include "runtime/layers/recurrent_kernels.h"
#include "runtime/layers/reduction.h"
#include "runtime/nn/all.h"
#include "runtime/operations.h"
#include "tests/errors.h"

namespace saltern {
namespace {

using namespace nn::literals;

using Numbers = std::vector<double>;

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

struct Weights {
  Tensor w, r, w_bias, r_bias, projection;
};

Weights weights_of(Module &layer, const std::string &suffix) {
  const std::map<std::string, Tensor> all = layer.state();
  const auto find = [&](const std::string &name) {
    const auto it = all.find(name + suffix);
    return it == all.end() ? Tensor() : it->second;
  };
  return {find("weight_ih"), find("weight_hh"), find("bias_ih"), find("bias_hh"), find("weight_hr")};
}

// w x + b
Numbers product(const Tensor &w, const Numbers &x, const Tensor &b) {
  Numbers y;
  for (int64_t o = 0; o < w.extent(0); ++o) {
    double total = b.defined() ? b.at<float>({o}) : 0;
    for (int64_t i = 0; i < w.extent(1); ++i) total += w.at<float>({o, i}) * x[static_cast<size_t>(i)];
    y.push_back(total);
  }
  return y;
}

// One step of one sample: h and c become the next ones.
void step(const std::string &kind, const Weights &of, const Numbers &x, Numbers &h, Numbers &c) {
  const Numbers w = product(of.w, x, of.w_bias), r = product(of.r, h, of.r_bias);
  const size_t k = c.size();
  const auto gate = [&](size_t which, size_t i) { return w[which * k + i] + r[which * k + i]; };
  Numbers hidden(k);
  for (size_t i = 0; i < k; ++i) {
    if (kind == "rnn") {
      hidden[i] = std::tanh(gate(0, i));
    } else if (kind == "gru") {
      const double reset = sigmoid_of(gate(0, i)), update = sigmoid_of(gate(1, i));
      hidden[i] = (1 - update) * std::tanh(w[2 * k + i] + reset * r[2 * k + i]) + update * h[i];
    } else {
      c[i] = sigmoid_of(gate(1, i)) * c[i] + sigmoid_of(gate(0, i)) * std::tanh(gate(2, i));
      hidden[i] = sigmoid_of(gate(3, i)) * std::tanh(c[i]);
    }
  }
  h = of.projection.defined() ? product(of.projection, hidden, {}) : hidden;
}

using Steps = std::vector<std::vector<Numbers>>;  // by step and sample

// One layer in one direction: what it gives at each step, and the last states.
struct Naive {
  Steps y;
  std::vector<Numbers> h, c;
};

Naive naive(const std::string &kind, const Weights &of, const Steps &x, size_t hidden, bool backwards) {
  const size_t steps = x.size(), batch = x[0].size();
  const size_t given = of.projection.defined() ? static_cast<size_t>(of.projection.extent(0)) : hidden;
  Naive all = {x, std::vector<Numbers>(batch, Numbers(given, 0)), std::vector<Numbers>(batch, Numbers(hidden, 0))};
  for (size_t taken = 0; taken < steps; ++taken) {
    const size_t t = backwards ? steps - 1 - taken : taken;
    for (size_t n = 0; n < batch; ++n) {
      step(kind, of, x[t][n], all.h[n], all.c[n]);
      all.y[t][n] = all.h[n];
    }
  }
  return all;
}

Steps by_step(const Tensor &x, bool batch_first) {
  const int64_t steps = x.extent(batch_first ? 1 : 0), batch = x.extent(batch_first ? 0 : 1);
  Steps all(static_cast<size_t>(steps), std::vector<Numbers>(static_cast<size_t>(batch)));
  for (int64_t t = 0; t < steps; ++t)
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t i = 0; i < x.extent(2); ++i)
        all[static_cast<size_t>(t)][static_cast<size_t>(n)].push_back(batch_first ? x.at<float>({n, t, i})
                                                                                  : x.at<float>({t, n, i}));
  return all;
}

// states(direction, n, k)
void expect_near(const Variable &states, int64_t direction, const std::vector<Numbers> &want) {
  for (size_t n = 0; n < want.size(); ++n)
    for (size_t i = 0; i < want[n].size(); ++i)
      EXPECT_NEAR(states.value().at<float>({direction, static_cast<int64_t>(n), static_cast<int64_t>(i)}), want[n][i],
                  2e-6);
}

struct Options {
  int64_t layers = 1;
  bool bidirectional = false, batch_first = false, bias = true;
  int64_t projection = 0;
};

nn::Layer made(const std::string &kind, int64_t inputs, int64_t hidden, const Options &o) {
  nn::Named named = {
      {"num_layers", o.layers}, {"bidirectional", o.bidirectional}, {"batch_first", o.batch_first}, {"bias", o.bias}};
  if (o.projection > 0) named["proj_size"] = o.projection;
  return nn::make(kind == "rnn" ? "RNN" : kind == "gru" ? "GRU" : "LSTM", {inputs, hidden}, named);
}

void expect_as_loops(const std::string &kind, const Options &options, const Shape &x_shape, int64_t hidden) {
  nn::manual_seed(11);
  nn::Layer layer = made(kind, x_shape[2], hidden, options);
  Random random(12);
  const Tensor x = random.uniform_tensor(x_shape, -1, 1);
  const std::vector<Variable> got = layer.all(x);  // y, h and c
  Steps in = by_step(x, options.batch_first);
  int64_t direction = 0;
  for (int64_t l = 0; l < options.layers; ++l) {
    Steps out(in.size(), std::vector<Numbers>(in[0].size()));
    for (const bool backwards : {false, true}) {
      if (backwards && !options.bidirectional) break;
      const Weights of = weights_of(layer, "_l" + std::to_string(l) + (backwards ? "_reverse" : ""));
      const Naive one = naive(kind, of, in, static_cast<size_t>(hidden), backwards);
      for (size_t t = 0; t < in.size(); ++t)
        for (size_t n = 0; n < in[t].size(); ++n)
          out[t][n].insert(out[t][n].end(), one.y[t][n].begin(), one.y[t][n].end());
      expect_near(got[1], direction, one.h);
      if (kind == "lstm") expect_near(got[2], direction, one.c);
      ++direction;
    }
    in = out;
  }
  const Steps y = by_step(got[0].value(), options.batch_first);
  for (size_t t = 0; t < in.size(); ++t)
    for (size_t n = 0; n < in[t].size(); ++n)
      for (size_t i = 0; i < in[t][n].size(); ++i) EXPECT_NEAR(y[t][n].at(i), in[t][n][i], 2e-6);
}

TEST(Recurrent, LayersAreTheirLoops) {
  expect_as_loops("rnn", {}, {4, 2, 3}, 5);
  expect_as_loops("gru", {}, {4, 2, 3}, 5);
  expect_as_loops("lstm", {}, {4, 2, 3}, 5);
  expect_as_loops("lstm", {}, {1, 1, 1}, 1);
}

TEST(Recurrent, LayersOnLayersBothWaysProjectedAndByBatches) {
  expect_as_loops("rnn", {2, true, true, false}, {2, 4, 3}, 5);
  expect_as_loops("gru", {2, true}, {4, 1, 3}, 5);
  expect_as_loops("lstm", {2, true, true, true, 2}, {2, 4, 3}, 5);
}

// So many states that their weights are whole panels, which are packed once for all turns.
TEST(Recurrent, LayersOfWholePanelsAreTheirLoops) {
  expect_as_loops("lstm", {1, true}, {3, 9, 3}, 32);
  expect_as_loops("gru", {1, true}, {3, 2, 3}, 32);
  expect_as_loops("lstm", {}, {2, 1, 3}, 8);
}

void expect_gradients_as_derived(const Operation &recurrent, int64_t gates, size_t states, int64_t size) {
  Random random(5);
  const auto some = [&](const Shape &shape) { return Variable(random.uniform_tensor(shape, -1, 1), true); };
  std::vector<Variable> in = {some({3, 5, 7})};
  for (size_t i = 0; i < states; ++i) in.push_back(some({5, size}));
  for (const Shape &s : {Shape{gates * size, 7}, {gates * size, size}, {gates * size}, {gates * size}})
    in.push_back(some(s));
  const Variable seed(random.uniform_tensor({3, 5, size}, -1, 1));
  const auto gradients_of = [&](const Variable &h) { return gradients(sum(h * seed), in); };
  const Attributes a = {{"backwards", int64_t{0}}, {"bias", int64_t{1}}};
  const auto by_kernels = gradients_of(recurrent_states(recurrent, in, a)[0]),
             derived = gradients_of(apply(recurrent, in, a)[0]);
  for (size_t i = 0; i < in.size(); ++i) {
    const std::vector<double> got = by_kernels[i].value().reals(), want = derived[i].value().reals();
    ASSERT_EQ(got.size(), want.size());
    for (size_t e = 0; e < got.size(); ++e) ASSERT_NEAR(got[e], want[e], 2e-5) << recurrent.name << " " << i;
  }
}

TEST(Recurrent, GradientsByKernelsAreThoseOfTheFormula) {
  for (const int64_t size : {5, 8, 32}) {
    expect_gradients_as_derived(operations::lstm, 4, 2, size);
    expect_gradients_as_derived(operations::gru, 3, 1, size);
  }
}

TEST(Recurrent, AStateIsWhereTheNextSequenceBegins) {
  Random random(3);
  nn::Layer layer = nn::LSTM(3, 5);
  const Tensor x = random.uniform_tensor({6, 2, 3}, -1, 1);
  const std::vector<Variable> whole = layer.all(x), begun = layer.all(x.slice(0, 0, 4)),
                              ended = layer.all(x.slice(0, 4, 2), {begun[1], begun[2]});
  EXPECT_EQ(ended[1].value().reals(), whole[1].value().reals());
  EXPECT_EQ(ended[2].value().reals(), whole[2].value().reals());
}

TEST(Recurrent, WhatDoesNotFitIsNamed) {
  nn::Layer lstm = nn::LSTM(3, 5), gru = nn::GRU(3, 5);
  const Variable x(Tensor::zeros({4, 2, 3})), h(Tensor::zeros({1, 2, 5})), wrong(Tensor::zeros({1, 3, 5}));
  expect_error([&] { lstm(Tensor::zeros({4, 2, 7})); }, {"LSTM: 'input'", "(4, 2, 7)", "sequences of 3 numbers"});
  expect_error([&] { lstm(x, {wrong, h}); }, {"LSTM: 'hx'", "(1, 3, 5)", "(1, 2, 5)"});
  expect_error([&] { lstm(x, h); }, {"LSTM: 'hx'", "a hidden state and a cell state"});
  expect_error([&] { gru(x, {h, h}); }, {"GRU: 'hx'", "(1, 2, 5)"});
  expect_error([&] { nn::GRU(3, 5, "proj_size"_a = 2); }, {"GRU has no argument 'proj_size'"});
  expect_error([&] { nn::LSTM(3, 5, "proj_size"_a = 7); }, {"LSTM: 'proj_size' is 7", "less than hidden_size"});
}

}  // namespace
}  // namespace saltern
