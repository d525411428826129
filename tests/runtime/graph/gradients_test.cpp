// Gradients of graphs: what the tape gives, what plain arithmetic gives, and nothing is computed on the way.

#include "runtime/graph/gradients.h"

#include <gtest/gtest.h>

#include "runtime/autograd/backward.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/text.h"
#include "runtime/graph/trace.h"
#include "runtime/layers.h"
#include "runtime/onnx/operators/lowering.h"
#include "runtime/operations.h"
#include "tests/errors.h"
#include "tests/naive_graph.h"

namespace saltern {
namespace {

using Variables = std::vector<Variable>;

struct Case {
  std::string name;
  std::vector<Shape> inputs;
  std::function<Variable(const Variables &)> apply;
};

Variable labels() { return Variable(Tensor::of<int64_t>({6}, {3, 9, 0, 2, -5, 7})); }

std::vector<Case> cases() {
  const Attributes epsilon = {{"epsilon", 1e-3}};
  return {
      {"activations",
       {{3, 5, 7}},
       [](const Variables &in) { return relu(in[0]) + gelu(in[0]) * tanh(in[0]) - silu(in[0]) / (exp(in[0]) + 1); }},
      {"broadcasts", {{3, 5, 7}, {5, 1}}, [](const Variables &in) { return maximum(in[0], in[1]) * in[1] - in[0]; }},
      {"conv2d",
       {{2, 4, 7, 9}, {6, 2, 3, 3}, {6}},
       [](const Variables &in) {
         return conv2d(in[0], in[1], in[2], {2, 1, 1, 2});
       }},
      {"pools",
       {{2, 3, 7, 9}},
       [](const Variables &in) {
         return max_pool2d(in[0], 3, {2, 1}) + average_pool2d(in[0], 3, {2, 1});
       }},
      {"dense", {{6, 10}, {4, 10}, {4}}, [](const Variables &in) { return softmax(linear(in[0], in[1], in[2])); }},
      {"matmul", {{2, 5, 6}, {6, 7}}, [](const Variables &in) { return log_softmax(matmul(in[0], in[1]), 1); }},
      {"layer_norm",
       {{6, 10}, {10}, {10}},
       [=](const Variables &in) { return apply_one(operations::layer_norm, in, epsilon.with("axis", int64_t{1})); }},
      {"batch_norm",
       {{6, 10}, {10}, {10}},
       [=](const Variables &in) {
         return apply_one(operations::batch_norm, {in[0], Tensor::full({10}, 0.2), Tensor::full({10}, 2), in[1], in[2]},
                          epsilon);
       }},
      {"batch_norm_training",
       {{6, 10}, {10}, {10}},
       [=](const Variables &in) { return apply_one(operations::batch_norm_training, in, epsilon); }},
      {"movement",
       {{3, 5, 7}, {3, 2, 7}},
       [](const Variables &in) {
         const Variable y = slice(transpose(concat({in[0], in[1]}, 1), {2, 0, 1}), 0, 1, 4);
         return reshape(y, {-1, 7}) * expand(mean(y), {12, 7});
       }},
      {"cross_entropy", {{6, 10}}, [](const Variables &in) { return cross_entropy(in[0], labels(), -5); }},
  };
}

struct Traced {
  Graph graph;
  std::map<std::string, Tensor> inputs, gradients;  // by the tape
};

Traced traced(const Case &c) {
  const Recording recording;
  Traced t;
  Variables in;
  NamedVariables named;
  for (const Shape &shape : c.inputs) {
    in.emplace_back(random_tensor(shape, static_cast<unsigned>(in.size()) + 1), true);
    named.emplace_back("x" + std::to_string(in.size()), in.back());
    t.inputs[named.back().first] = in.back().value();
  }
  const Variable y = c.apply(in);
  t.graph = trace(named, {{"y", y}}, {});
  t.inputs["d_y"] = random_tensor(y.shape(), 9);
  GradientOptions options;
  if (y.value().size() != 1) options.dy = t.inputs["d_y"];
  const Variables found = gradients(y, in, options);
  for (size_t i = 0; i < in.size(); ++i) t.gradients["d_" + named[i].first] = found[i].value();
  if (y.value().size() == 1) t.inputs.erase("d_y");
  return t;
}

void expect_near(const Tensor &got, const Tensor &want, const std::string &what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  const std::vector<double> a = got.reals(), b = want.reals();
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-4 * (1 + std::fabs(b[i]))) << what << " at " << i;
}

TEST(GraphGradients, AreThoseOfTheTape) {
  for (const Case &c : cases()) {
    const Traced t = traced(c);
    const Graph g = with_gradients(t.graph, "y", t.graph.inputs);
    ASSERT_EQ(g.outputs.size(), 1 + t.graph.inputs.size());
    const auto got = run(g, t.inputs);
    for (const auto &[name, want] : t.gradients) expect_near(got.at(name), want, c.name + ", " + name);
    expect_near(got.at("y"), run(t.graph, t.inputs).at("y"), c.name);
  }
}

TEST(GraphGradients, OfGradientsAreThoseOfTheTapeToo) {
  const Recording recording;
  const Variable x(random_tensor({3, 4}, 1), true), w(random_tensor({5, 4}, 2), true);
  const Variable y = sum(square(gelu(linear(x, w))));
  const Graph once = with_gradients(trace({{"x", x}, {"w", w}}, {{"y", y}}, {}), "y", {"x"});
  const Graph twice = with_gradients(once, "d_x", {"w"});
  GradientOptions record;
  record.create_graph = true;
  const Variable dx = gradients(y, {x}, record)[0];
  GradientOptions seeded;
  seeded.dy = random_tensor({3, 4}, 3);
  const auto got = run(twice, {{"x", x.value()}, {"w", w.value()}, {"d_d_x", seeded.dy.value()}});
  expect_near(got.at("d_w"), gradients(dx, {w}, seeded)[0].value(), "d_w");
}

// y(i) = x0(x1(i)) x2
Graph gather() {
  using formula::axis;
  Graph g;
  g.add_input("x", {4});
  g.add_input("places", {6}, Type::i64);
  g.add_input("factor", {});
  const formula::Expression place = formula::load(1, Type::i64, {axis(0)});
  const formula::Expression element = formula::load(0, Type::f32, {place}) * formula::load(2, Type::f32, {});
  g.outputs = {g.add_node("formula", {"x", "places", "factor"}, "y", {6}, {{"element", element}})};
  return g;
}

TEST(GraphGradients, OfAFormulaAreFormulasAndScatters) {
  const Graph g = with_gradients(gather(), "y", {"x", "factor"});
  const Tensor x = random_tensor({4}, 1), dy = random_tensor({6}, 2),
               places = Tensor::of<int64_t>({6}, {2, 0, 2, 3, 2, 0});
  const std::map<std::string, Tensor> inputs = {
      {"x", x}, {"places", places}, {"factor", Tensor::full({}, 3)}, {"d_y", dy}};
  std::vector<double> dx(4);
  double dfactor = 0;
  for (int64_t i = 0; i < 6; ++i) {
    const auto place = static_cast<size_t>(places.data<int64_t>()[i]);
    dx[place] += 3.0 * dy.data<float>()[i];
    dfactor += static_cast<double>(x.data<float>()[place]) * dy.data<float>()[i];
  }
  // And so after a round trip through text.
  for (const Graph &graph : {g, parse_graph(to_text(g), {}, "text")}) {
    const auto got = run(graph, inputs);
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(got.at("d_x").reals()[i], dx[i], 1e-5) << to_text(graph);
    EXPECT_NEAR(got.at("d_factor").item(), dfactor, 1e-5);
  }
  EXPECT_TRUE(std::any_of(g.nodes.begin(), g.nodes.end(), [](const auto &n) { return n.operation == "scatter_sum"; }));
}

TEST(GraphGradients, OfAScatterGatherAgain) {
  const Graph once = with_gradients(gather(), "y", {"x"}), twice = with_gradients(once, "d_x", {"d_y"});
  const Tensor places = Tensor::of<int64_t>({6}, {2, 0, 2, 3, 2, 0}), seed = random_tensor({4}, 5);
  const auto got = run(twice, {{"x", random_tensor({4}, 1)},
                               {"places", places},
                               {"factor", Tensor::full({}, 3)},
                               {"d_y", random_tensor({6}, 2)},
                               {"d_d_x", seed}});
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_NEAR(got.at("d_d_y").reals()[static_cast<size_t>(i)], 3.0 * seed.data<float>()[places.data<int64_t>()[i]],
                1e-5);
}

TEST(GraphGradients, OfWhatNothingDependsOnAreZeros) {
  Graph g;
  g.add_input("x", {2});
  g.add_input("other", {3});
  g.outputs = {g.add_node("relu", {"x"}, "y", {2})};
  const Graph made = with_gradients(g, "y", {"other", "x"});
  const auto got =
      run(made, {{"x", Tensor::full({2}, 1)}, {"other", Tensor::full({3}, 1)}, {"d_y", Tensor::full({2}, 5)}});
  EXPECT_EQ(got.at("d_other").reals(), std::vector<double>(3, 0));
  EXPECT_EQ(got.at("d_x").reals(), std::vector<double>(2, 5));
  EXPECT_EQ(made.outputs, (std::vector<std::string>{"y", "d_other", "d_x"}));
}

// Two gradients that are one value are two outputs, and neither is the seed itself.
TEST(GraphGradients, AreValuesOfTheirOwn) {
  Graph g;
  g.add_input("a", {2});
  g.add_input("b", {2});
  g.outputs = {g.add_node("add", {"a", "b"}, "y", {2})};
  const auto got = run(with_gradients(g, "y", {"a", "b"}),
                       {{"a", Tensor::zeros({2})}, {"b", Tensor::zeros({2})}, {"d_y", Tensor::full({2}, 7)}});
  EXPECT_EQ(got.at("d_a").reals(), std::vector<double>(2, 7));
  EXPECT_EQ(got.at("d_b").reals(), std::vector<double>(2, 7));
}

TEST(GraphGradients, AreAddedInEveryType) {
  Graph g;
  g.add_input("x", {3}, Type::f64);
  const formula::Expression x = formula::load(0, Type::f64, {formula::axis(0)});
  const std::string square = g.add_node("formula", {"x"}, "square", {3}, {{"element", x * x}}, Type::f64);
  g.outputs = {g.add_node("formula", {square, "x"}, "y", {3},
                          {{"element", x + formula::load(1, Type::f64, {formula::axis(0)})}}, Type::f64)};
  const auto got = run(with_gradients(g, "y", {"x"}),
                       {{"x", Tensor::of<double>({3}, {1, 2, 3})}, {"d_y", Tensor::of<double>({3}, {1, 1, 2})}});
  EXPECT_EQ(got.at("d_x").reals(), (std::vector<double>{3, 5, 14}));
}

// Four gigabytes a value: that takes no time and no memory, since nothing is computed.
TEST(GraphGradients, ComputeNothing) {
  Graph g;
  const Shape large = {1 << 15, 1 << 15};
  g.add_input("x", large);
  std::string y = "x";
  for (int i = 0; i < 20; ++i) y = g.add_node(i % 2 ? "sigmoid" : "square", {y}, "y", large);
  const Shape rows = {1 << 15, 1};
  y = g.add_node("sum", {y}, "sum", rows, {{"axes", std::vector<int64_t>{1}}});
  g.outputs = {y};
  EXPECT_EQ(with_gradients(g, y, {"x"}).value("d_x").shape, large);
}

TEST(GraphGradients, SayWhichNodeHasNone) {
  Graph g;
  g.add_input("x", {2});
  g.add_input("i", {2}, Type::i64);
  const std::string y = g.add_node("somebody's layer", {"x"}, "y", {2});
  g.outputs = {g.add_node("relu", {"x"}, "z", {2}), y};
  EXPECT_THROW(with_gradients(g, "y", {"x"}), Unsupported);
  expect_error([&] { with_gradients(g, "y", {"x"}); }, {"node 'y' (somebody's layer)", "no gradient"});
  expect_error([&] { with_gradients(g, "z", {"i"}); }, {"'i' is i64"});
  expect_error([&] { with_gradients(g, "z", {"y"}); }, {"'y'", "neither an input nor a constant"});
  EXPECT_EQ(with_gradients(g, "z", {"x"}).outputs.back(), "d_x") << "what is not on the way may be anything";
}

}  // namespace
}  // namespace saltern
