// Formulas as ONNX operators: every algorithm of the language and its gradient, run as the ONNX model that they become,
// gives what the interpreter gives.

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "dsl/derivative.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/formula_node.h"
#include "runtime/onnx/export.h"
#include "runtime/onnx/run_model.h"
#include "tests/algorithm_cases.h"
#include "tests/errors.h"

namespace saltern {
namespace {

// Whether it could be written: a graph has no formula that adds at places that data says.
bool expect_same_in_onnx(const Values &outputs, const Given &g) {
  const formula::ExactFormulas all = formulas_of(outputs, g);
  Graph net;
  HostValues inputs;
  std::vector<std::string> names;
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    names.push_back("in" + std::to_string(i));
    net.add_input(names.back(), g.tensors[i].shape(), g.tensors[i].type());
    inputs[names.back()] = g.tensors[i];
  }
  for (const formula::ExactFormula &f : all.stages) {
    if (f.is_scatter()) return false;
    std::vector<std::string> operands;
    for (int o : f.operands) operands.push_back(names.at(static_cast<size_t>(o)));
    const std::string name = "made" + std::to_string(names.size());
    net.values[name] = {f.shape, f.type, {}};
    net.nodes.push_back(node_of(f, std::move(operands), name));
    names.push_back(name);
  }
  for (int o : all.outputs) net.outputs.push_back(names.at(static_cast<size_t>(o)));
  const std::vector<Tensor> want = evaluate(all, g.tensors);
  const HostValues got = run_model(onnx_of(net), inputs);
  for (size_t o = 0; o < want.size(); ++o) {
    const Tensor &t = got.at(net.outputs[o]).tensor();
    EXPECT_EQ(t.shape(), want[o].shape());
    EXPECT_EQ(t.type(), want[o].type());
    const std::vector<double> x = want[o].reals(), y = t.reals();
    for (size_t i = 0; i < x.size() && i < y.size(); ++i)
      if (std::fabs(x[i] - y[i]) > 1e-9 * std::max(1.0, std::fabs(x[i]))) {
        ADD_FAILURE() << "output " << o << " at " << i << ": " << y[i] << "; expected " << x[i];
        break;
      }
  }
  return true;
}

class ExportFormula : public testing::TestWithParam<std::pair<std::string, std::function<Case()>>> {};

TEST_P(ExportFormula, GivesTheSame) {
  Case c = GetParam().second();
  EXPECT_TRUE(expect_same_in_onnx(c.outputs, c.given));
  const Values seeds = seeded(c.outputs, c.given, "seed");
  const bool is_written = expect_same_in_onnx(gradient(c.outputs, seeds, c.wanted), c.given);
  static const std::set<std::string> adding_at_places = {"embedding", "resize_bilinear", "grid_sample", "label_loss",
                                                         "margins",   "sorted",          "top"};
  EXPECT_EQ(is_written, adding_at_places.count(GetParam().first) == 0);
}

INSTANTIATE_TEST_SUITE_P(All, ExportFormula, testing::ValuesIn(algorithm_cases()),
                         [](const auto &info) { return case_name(info.param.first, info.index); });

// Not a tensor of all products.
TEST(Export, ASumOfProductsIsAnEinsum) {
  Graph net;
  net.add_input("a", {2, 3});
  net.add_input("b", {3, 4});
  const Expression sum = formula::reduce(formula::Function::sum, {3}, [](const std::vector<Expression> &k) {
    return formula::load(0, Type::f32, {formula::axis(0), k[0]}) *
           formula::load(1, Type::f32, {k[0], formula::axis(1)});
  });
  net.outputs = {net.add_node("formula", {"a", "b"}, "y", {2, 4}, {{"element", sum}})};
  const Model m = onnx_of(net);
  const auto is_einsum = [](const Graph::Node &n) { return n.operation == "Einsum"; };
  EXPECT_EQ(std::count_if(m.graph.nodes.begin(), m.graph.nodes.end(), is_einsum), 1);
}

// A double holds neither the largest integer nor the quotient of 1e30 and 3.
TEST(Export, LargeNumbersStayWhatTheyAre) {
  const auto expect_same = [](Type type, const Tensor &x, const std::function<Expression(const Expression &)> &f) {
    Graph net;
    net.add_input("x", x.shape(), type);
    const Expression e = f(formula::load(0, type, {formula::axis(0)}));
    net.outputs = {net.add_node("formula", {"x"}, "y", x.shape(), {{"element", e}}, e.type())};
    const Tensor want = run(net, {{"x", x}}).at("y"), got = run_model(onnx_of(net), {{"x", x}}).at("y").tensor();
    if (is_real(type)) {
      EXPECT_EQ(want.reals(), got.reals());
    } else {
      EXPECT_EQ(want.integers(), got.integers());
    }
  };
  const int64_t most = std::numeric_limits<int64_t>::max();
  expect_same(Type::i64, Tensor::of<int64_t>({3}, {most, most - 1, -most}),
              [&](const Expression &x) { return min(x, formula::constant_integer(Type::i64, most - 1)); });
  expect_same(Type::f64, Tensor::of<double>({4}, {1e30, -1e30, 7.5, -7.5}),
              [](const Expression &x) { return call(formula::Function::modulo, x, formula::constant(Type::f64, 3)); });
}

TEST(Export, WhatOnnxHasNotIsNamed) {
  Graph net;
  net.add_input("a", {2}, Type::i32);
  const Expression a = formula::load(0, Type::i32, {formula::axis(0)});
  net.outputs = {
      net.add_node("formula", {"a"}, "y", {2}, {{"element", call(formula::Function::shift_left, a, a)}}, Type::i32)};
  expect_error([&] { onnx_of(net); }, {"'y'", "shift"});
}

}  // namespace
}  // namespace saltern
