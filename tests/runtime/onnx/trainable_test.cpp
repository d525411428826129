// Imported models train as nets of the same layers do.

#include "runtime/onnx/trainable.h"

#include <cmath>

#include "runtime/autograd/backward.h"
#include "runtime/graph/graph_net.h"
#include "runtime/graph/trace.h"
#include "runtime/nn/all.h"
#include "runtime/onnx/export.h"
#include "runtime/optim/training_step.h"
#include "runtime/tensor/random.h"
#include "tests/errors.h"
#include "tests/imported_model.h"
#include "tests/training_problems.h"

namespace saltern {
namespace {

using namespace nn::literals;

Sequential layers() {
  nn::manual_seed(5);
  return Sequential(nn::Conv2d(2, 4, 3, 1, 1), nn::BatchNorm2d(4, "momentum"_a = 0.2), nn::ReLU(),
                    nn::Conv2d(4, 4, 3, 1, 1, "groups"_a = 4), nn::MaxPool2d(2), nn::Flatten(), nn::Dropout(0.25),
                    nn::Linear(36, 3));
}

// The same by hand.
Model written(Sequential &net, const std::string &end = "") {
  std::string constants;
  std::map<std::string, Tensor> weights;
  for (const auto &[name, t] : net.state()) {
    if (t.rank() == 0) continue;
    weights[name] = t.in_layout(Layout::row_major).clone();
    constants += "constant " + name + " f32 " + to_string(t.shape()) + "\n";
  }
  const std::string lines =
      "input x f32 [1, 2, 6, 6]\nconstant ratio f32 [] = [0.25]\nconstant low f32 [] = [0.0]\n"
      "node Conv(x, 0.weight, 0.bias) {pads = [1, 1, 1, 1]} -> a\n"
      "node BatchNormalization(a, 1.weight, 1.bias, 1.running_mean, 1.running_var) {momentum = 0.8} -> b\n"
      "node Clip(b, low) -> c\nnode Conv(c, 3.weight, 3.bias) {group = 4, pads = [1, 1, 1, 1]} -> d\n"
      "node MaxPool(d) {kernel_shape = [2, 2], strides = [2, 2]} -> e\nnode Flatten(e) -> f\nnode Dropout(f, ratio) -> "
      "g\n" +
      (end.empty() ? "node Gemm(g, 7.weight, 7.bias) {transB = 1} -> y\n"
                   : "node Gemm(g, 7.weight, 7.bias) {transB = 1} -> scores\nnode " + end + "(scores) -> y\n") +
      "output y\n";
  Model m = model_of("input x f32 [1]\nnode Relu(x) -> y\noutput y\n");
  m.graph = parse_imported_graph("saltern graph 1\n" + constants + lines, weights, "test");
  return m;
}

void step(Module &net, Optimizer &optimizer, const Batch &batch, double &loss) {
  const Variable l = cross_entropy(net(batch.x), batch.labels);
  loss = l.value().item();
  backward(l);
  optimizer.step();
  optimizer.clear_gradients();
}

void expect_near(const std::map<std::string, Tensor> &got, const std::map<std::string, Tensor> &want) {
  for (const auto &[name, t] : got) {
    if (name.find("running_var") != std::string::npos) continue;  // PyTorch's is not biased, ONNX's is
    const std::vector<double> a = t.reals(), b = want.at(name).reals();
    ASSERT_EQ(a.size(), b.size()) << name;
    for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-4 * (1 + std::fabs(b[i]))) << name << " " << i;
  }
}

TEST(Trainable, ModelsTrainAsNetsOfTheSameLayers) {
  Random data(3);
  std::vector<Batch> batches;
  for (int i = 0; i < 4; ++i) batches.push_back({data.uniform_tensor({5, 2, 6, 6}, -1, 1), classes(data, 5, 3)});
  Sequential net = layers();
  const TrainableModel model = trainable(written(net), {}, 5);
  EXPECT_EQ(model.parameters, (std::vector<std::string>{"0.bias", "0.weight", "1.bias", "1.weight", "3.bias",
                                                        "3.weight", "7.bias", "7.weight"}));
  EXPECT_EQ(model.last_operator, "");
  GraphNet imported(model.graph, model.parameters);
  SGD optimizer(net, {0.1, 0.9}), of_imported(imported, {0.1, 0.9});
  const Tensor random = random_stream().clone();
  std::vector<double> losses(batches.size());
  for (size_t i = 0; i < batches.size(); ++i) step(net, optimizer, batches[i], losses[i]);
  random_stream().copy_from(random);
  const Graph in_graph = training_step(
      imported, batches[0].x, batches[0].labels,
      [](const Variable &y, const Variable &t) { return cross_entropy(y, t); }, of_imported);
  std::map<std::string, Tensor> state;
  const Tensor again = random_stream().clone();
  for (size_t i = 0; i < batches.size(); ++i) {
    EXPECT_NEAR(step_in_graph(in_graph, batches[i], state), losses[i], 1e-5);
    double loss = 0;
    step(imported, of_imported, batches[i], loss);
    EXPECT_NEAR(loss, losses[i], 1e-5);
  }
  expect_near(imported.state(), net.state());
  for (const auto &[name, t] : imported.state()) expect_near({{name, state.at(name)}}, imported.state());
  // In evaluation mode nothing is drawn or kept.
  imported.eval();
  const Tensor position = random_stream().clone();
  const auto evaluated = run(imported.inference(), {{"x", batches[0].x}}).at("y").reals();
  EXPECT_EQ(imported(batches[0].x).value().reals(), evaluated);
  EXPECT_EQ(random_stream().integers(), position.integers());
}

// mean = 0.8 mean + 0.2 of the batch; the variance likewise, as it is.
TEST(Trainable, RunningStatisticsAreOnnxs) {
  Model m = model_of(
      "input x f32 [n, 1]\nconstant s f32 [1] = [1.0]\nconstant b f32 [1] = [0.0]\nconstant m f32 [1] = [10.0]\n"
      "constant v f32 [1] = [5.0]\nnode BatchNormalization(x, s, b, m, v) {momentum = 0.8} -> y\noutput y\n");
  const TrainableModel model = trainable(m, {}, 4);
  EXPECT_TRUE(model.parameters.empty());  // single numbers
  GraphNet net(model.graph, model.parameters);
  net(Tensor::of<float>({4, 1}, {1, 3, 5, 7}));
  EXPECT_NEAR(net.state().at("m").item(), 0.8 * 10 + 0.2 * 4, 1e-5);
  EXPECT_NEAR(net.state().at("v").item(), 0.8 * 5 + 0.2 * 5, 1e-5);
}

TEST(Trainable, TheLastOperatorIsTold) {
  Sequential net = layers();
  const TrainableModel model = trainable(written(net, "Softmax"), {}, 2);
  EXPECT_EQ(model.last_operator, "Softmax");
  EXPECT_EQ(model.last_axis, -1);
  EXPECT_EQ(model.graph.value(model.before_last).shape, (Shape{2, 3}));
  EXPECT_EQ(model.graph.outputs, (std::vector<std::string>{"y", "scores"}));
}

// As exporters write a layer of sequences.
TEST(Trainable, ProductsWithTurnedWeightsAreLayers) {
  Random random(4);
  const Tensor w = random.uniform_tensor({5, 3}, -1, 1), x = random.uniform_tensor({4, 2, 3}, -1, 1),
               dy = random.uniform_tensor({4, 2, 5}, -1, 1);
  Model m = model_of("input x f32 [1]\nnode Relu(x) -> y\noutput y\n");
  m.graph = parse_imported_graph(
      "saltern graph 1\nconstant w f32 [5, 3]\ninput x f32 [4, 2, 3]\nnode Transpose(w) {perm = [1, 0]} -> t\n"
      "node MatMul(x, t) -> y\noutput y\n",
      {{"w", w}}, "test");
  const TrainableModel model = trainable(m, {}, 4);
  for (const Graph::Node &n : model.graph.nodes) EXPECT_TRUE(n.operation == "dense" || n.operation == "reshape");
  GraphNet net(model.graph, model.parameters);
  const Variable y = net(Variable(x));
  backward(y, dy);
  std::vector<double> want_y(40), want_dw(15);
  const std::vector<double> of_x = x.reals(), of_w = w.reals(), of_dy = dy.reals();
  for (size_t row = 0; row < 8; ++row)
    for (size_t o = 0; o < 5; ++o)
      for (size_t i = 0; i < 3; ++i) {
        want_y[row * 5 + o] += of_x[row * 3 + i] * of_w[o * 3 + i];
        want_dw[o * 3 + i] += of_x[row * 3 + i] * of_dy[row * 5 + o];
      }
  const std::vector<double> got_y = y.value().reals(),
                            got_dw = net.named_parameters().at(0).second.gradient().value().reals();
  for (size_t i = 0; i < want_y.size(); ++i) EXPECT_NEAR(got_y[i], want_y[i], 1e-5);
  for (size_t i = 0; i < want_dw.size(); ++i) EXPECT_NEAR(got_dw[i], want_dw[i], 1e-5);
}

// An LSTM, (batch, time, inputs) -> (batch, time, directions, 3), with these attributes.
Model lstm(const std::string &direction, const std::string &more = "") {
  const int64_t directions = direction == "bidirectional" ? 2 : 1, hidden = 3, inputs = 2, batch = 4;
  Random random(9);
  std::map<std::string, Tensor> weights;
  std::string constants;
  const auto add = [&](const std::string &name, const Shape &shape) {
    weights[name] = random.uniform_tensor(shape, -1, 1);
    constants += "constant " + name + " f32 " + to_string(shape) + "\n";
  };
  add("w", {directions, 4 * hidden, inputs});
  add("r", {directions, 4 * hidden, hidden});
  add("b", {directions, 8 * hidden});
  add("h", {batch, directions, hidden});
  add("c", {batch, directions, hidden});
  Model m = model_of("input x f32 [1]\nnode Relu(x) -> y\noutput y\n");
  m.graph = parse_imported_graph("saltern graph 1\n" + constants +
                                     "input x f32 [4, 5, 2]\nnode LSTM(x, w, r, b, \"\", h, c) {direction = \"" +
                                     direction + "\", hidden_size = 3, layout = 1" + more + "} -> y, last_h, last_c\n" +
                                     "output y\noutput last_h\noutput last_c\n",
                                 weights, "test");
  return m;
}

int64_t whole_layers(const Graph &graph) {
  return std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const auto &n) { return n.operation == "lstm"; });
}

TEST(Trainable, RecurrentLayersAreWholeOnATapeAndGiveTheSame) {
  for (const char *direction : {"forward", "reverse", "bidirectional"}) {
    const TrainableModel model = trainable(lstm(direction), {}, 4);
    EXPECT_EQ(whole_layers(model.graph), 0);
    EXPECT_EQ(whole_layers(model.on_tape), std::string(direction) == "bidirectional" ? 2 : 1);
    GraphNet by_turns(model.graph, model.parameters), whole(model.graph, model.parameters, model.on_tape);
    for (const std::string &name : model.outputs) {
      Random random(3);
      std::vector<std::map<std::string, Tensor>> found;
      const Tensor x = random.uniform_tensor({4, 5, 2}, -1, 1),
                   dy = random.uniform_tensor(model.graph.value(name).shape, -1, 1);
      for (GraphNet *net : {&by_turns, &whole}) {
        const Variable in(x, true), y = net->output(name, {in});
        backward(y, dy);
        found.push_back({{"y", y.value()}, {"dx", in.gradient().value()}});
        for (const auto &[p, v] : net->named_parameters()) {
          found.back()[p] = v.gradient().value();
          v.set_gradient({});
        }
      }
      expect_near(found[0], found[1]);
    }
  }
}

TEST(Trainable, SpecialRecurrentLayersGoTurnByTurn) {
  for (const char *more : {", clip = 0.5", ", input_forget = 1", ", activations = [\"Sigmoid\", \"Relu\", \"Tanh\"]"})
    EXPECT_EQ(whole_layers(trainable(lstm("forward", more), {}, 4).on_tape), 0) << more;
}

TEST(Trainable, WhatCannotTrainIsNamed) {
  expect_error([] { trainable(model_of("input x f32 []\nnode Relu(x) -> y\noutput y\n"), {}, 2); }, {"'x'", "batch"});
  expect_error(
      [] {
        trainable(model_of("input x f32 [n, 3]\nnode Dropout(x) -> y, mask\nnode Not(mask) -> z\noutput y\noutput z\n"),
                  {}, 2);
      },
      {"Dropout", "'mask'"});
  expect_error([] { trainable(model_of("input x f32 [n, c]\nnode Relu(x) -> y\noutput y\n"), {}, 2); },
               {"'x'", "open"});
}

}  // namespace
}  // namespace saltern
