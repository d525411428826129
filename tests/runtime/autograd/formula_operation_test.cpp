// Layers of one's own: an operation that is nothing but a formula trains, differentiates twice and is traced.

#include "runtime/autograd/formula_operation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/autograd/backward.h"
#include "runtime/autograd/check_gradients.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/text.h"
#include "runtime/graph/trace.h"
#include "runtime/nn/all.h"
#include "runtime/optim/optimizer.h"
#include "tests/errors.h"

namespace saltern {
namespace {

const Operation own_tanh("scaled_tanh", [](Value x, Value scale) { return scale * tanh(x); });

const Operation own_leaky("own_leaky", [](const Values &in, const Attributes &a) -> Values {
  return {where(in[0] > 0, in[0], in[0] * a.real("slope"))};
});

// Rows of x, scaled to a sum of 1 each; and the sums.
const Operation own_shares("own_shares", [](const Values &in, const Attributes &) -> Values {
  const Value total = named("total", sum(in[0], {-1}));
  return {in[0] / total, total};
});

const Operation own_norm("own_norm", [](Value x) {
  const Value d = x - mean(x, {-1});
  return d / sqrt(mean(d * d, {-1}) + 1e-5);
});
struct OwnNorm : Module {
  Variable forward(const Variable &x) override { return own_norm(x); }
};

struct OwnTanh : Module {
  Variable scale;
  explicit OwnTanh(int64_t channels) : scale(Tensor::full({channels}, 1), /*requires_gradient=*/true) {}
  Variable forward(const Variable &x) override { return own_tanh(x, scale); }
  void visit(Visitor &v) override { v.parameter("scale", scale); }
};

TEST(FormulaOperation, ComputesWhatItsFormulaSays) {
  const Variable y =
      own_tanh(Variable(Tensor::of<float>({2, 2}, {1, 2, 3, 4})), Variable(Tensor::of<float>({2}, {2, 3})));
  EXPECT_EQ(y.shape(), (Shape{2, 2}));
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(y.value().data<float>()[i], (2 + i % 2) * std::tanh(1.0 + i), 1e-6);
}

TEST(FormulaOperation, HasGradientsOfFirstAndSecondOrder) {
  const Variable x(Tensor::of<float>({1}, {0.5}), true), scale(Tensor::of<float>({1}, {2}), true);
  const Variable y = own_tanh(x, scale);
  GradientOptions keep;
  keep.create_graph = true;
  const std::vector<Variable> d = gradients(y, {x, scale}, keep);
  const double t = std::tanh(0.5), slope = 1 - t * t;
  EXPECT_NEAR(d[0].value().item(), 2 * slope, 1e-6);
  EXPECT_NEAR(d[1].value().item(), t, 1e-6);
  const std::vector<Variable> dd = gradients(d[0], {x, scale});
  EXPECT_NEAR(dd[0].value().item(), 2 * -2 * t * slope, 1e-5);
  EXPECT_NEAR(dd[1].value().item(), slope, 1e-6);
}

const Operation own_product("own_product", [](Value a, Value b) {
  using formula::Expression;
  const Value products = formula::compute("products", {a.extent(0), b.extent(1)}, [&](Expression i, Expression j) {
    return formula::sum({a.extent(1)}, [&](Expression k) { return a(i, k) * b(k, j); });
  });
  return tanh(products) * products;
});

// Sums of products: one of the forward, which its gradient reads, and one of the gradient.
TEST(FormulaOperation, DoesNotMakeProductsAgainForItsGradient) {
  check_gradients(own_product, {{3, 4}, {4, 5}});
  const Recording recording;
  const Variable a(Tensor::full({3, 4}, 0.5), true), b(Tensor::full({4, 5}, 0.25), true), y = own_product(a, b);
  GradientOptions options;
  options.create_graph = true;
  options.dy = Tensor::full({3, 5}, 1);
  const Graph g = trace({{"a", a}, {"b", b}}, {{"y", y}, {"da", gradients(y, {a}, options)[0]}}, {});
  int sums = 0;
  for (const Graph::Node &n : g.nodes)
    sums += to_string(n.attributes.expression("element")).find("sum{") != std::string::npos ? 1 : 0;
  EXPECT_EQ(sums, 2) << to_text(g);
}

TEST(FormulaOperation, TakesParametersFromAttributes) {
  const Variable x(Tensor::of<float>({2}, {-4, 4}), true);
  const Variable y = apply_one(own_leaky, {x}, {{"slope", 0.25}});
  EXPECT_EQ(y.value().reals(), (std::vector<double>{-1, 4}));
  EXPECT_EQ(gradients(sum(y), {x})[0].value().reals(), (std::vector<double>{0.25, 1}));
  EXPECT_EQ(apply_one(own_leaky, {x}, {{"slope", 0.5}}).value().reals(), (std::vector<double>{-2, 4}));
}

TEST(FormulaOperation, MayHaveSeveralResultsOfWhichSomeAreUsed) {
  const Variable x(Tensor::of<float>({1, 2}, {1, 3}), true);
  const std::vector<Variable> y = apply(own_shares, {x});
  EXPECT_EQ(y[0].value().reals(), (std::vector<double>{0.25, 0.75}));
  EXPECT_EQ(y[1].value().reals(), (std::vector<double>{4}));
  EXPECT_EQ(gradients(sum(y[1]), {x})[0].value().reals(), (std::vector<double>{1, 1}));
}

TEST(FormulaOperation, TrainsLikeAnyOtherLayer) {
  nn::manual_seed(3);
  Sequential net(nn::Linear(2, 8), OwnTanh(8), nn::Linear(8, 1));
  SGD optimizer(net, {/*rate=*/0.1});
  const Tensor x = Tensor::of<float>({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1}), t = Tensor::of<float>({4, 1}, {0, 1, 1, 0});
  double first = 0, last = 0;
  for (int i = 0; i < 300; ++i) {
    const Variable e = net(x) - Variable(t), loss = mean(e * e);
    last = loss.value().item();
    if (i == 0) first = last;
    optimizer.clear_gradients();
    backward(loss);
    optimizer.step();
  }
  EXPECT_LT(last, first / 5);
}

TEST(FormulaOperation, IsAFormulaInAGraphThatKnowsNothingOfIt) {
  nn::manual_seed(3);
  Sequential net(nn::Linear(2, 4), OwnTanh(4));
  const Graph graph = trace(net, {3, 2});
  EXPECT_EQ(graph.nodes.back().operation, "formula");
  const Tensor x = Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run(graph, {{"x", x}}).at("y").reals(), net(x).value().reals());
}

TEST(FormulaOperation, IsReadBackFromAGraphsText) {
  nn::manual_seed(3);
  Sequential net(nn::Linear(2, 4), OwnNorm());
  const Graph graph = trace(net, {3, 2});
  const GraphText text = text_of(graph, 1 << 20);
  const Graph read = parse_graph(text.text, text.tensors, "here");
  const Tensor x = Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run(read, {{"x", x}}).at("y").reals(), net(x).value().reals());
}

TEST(FormulaOperation, FaultsNameTheOperationAndItsShapes) {
  const Tensor a = Tensor::zeros({2, 3}), b = Tensor::zeros({4});
  expect_error([&] { own_tanh(Variable(a), Variable(b)); }, {"scaled_tanh", "[2, 3]", "[4]", "do not broadcast"});
  expect_error([&] { own_tanh(Variable(a)); }, {"scaled_tanh", "takes 2 inputs, not 1"});
}

}  // namespace
}  // namespace saltern
