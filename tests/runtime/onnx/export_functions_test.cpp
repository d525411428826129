// Operations that are formulas, in an ONNX model: functions of their names.

#include <gtest/gtest.h>

#include "runtime/graph/executor.h"
#include "runtime/graph/trace.h"
#include "runtime/layers.h"
#include "runtime/onnx/export.h"
#include "runtime/onnx/run_model.h"
#include "runtime/tensor/random.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

const Operation stretched("stretched", [](Value x, Value scale) { return scale * tanh(x); });
const Operation shares("shares", [](Value x) { return x / named("total", sum(x * x, {-1}) + 1.0); });

struct Own : Module {
  Variable scale{Tensor::full({4}, 2), true};
  Variable forward(const Variable &x) override {
    const Variable y = shares(stretched(stretched(x, scale), scale));
    return stretched(sum(y, {0}), scale) + shares(y);
  }
  void visit(Visitor &v) override { v.parameter("scale", scale); }
};

std::vector<std::string> names_of(const std::vector<ModelFunction> &functions) {
  std::vector<std::string> names;
  for (const ModelFunction &f : functions) names.push_back(f.domain + "." + f.name);
  return names;
}

TEST(ExportFunctions, AnOperationIsOneFunctionForEachKindOfOperands) {
  Own net;
  const Model m = onnx_of(trace(net, {3, 4}));
  EXPECT_EQ(names_of(m.functions),
            (std::vector<std::string>{"saltern.stretched", "saltern.shares", "saltern.stretched_2"}));
  std::map<std::string, int> calls;
  for (const Graph::Node &n : m.graph.nodes) calls[n.domain + "." + n.operation] += 1;
  EXPECT_EQ(calls["saltern.stretched"], 2);
  EXPECT_EQ(calls["saltern.stretched_2"], 1);
  EXPECT_EQ(calls["saltern.shares"], 2);
  EXPECT_EQ(calls[".Tanh"], 0);
  EXPECT_EQ(m.opsets.count("saltern"), 1u);
}

TEST(ExportFunctions, ItGivesTheSameFromAFileForAnyBatch) {
  Own net;
  const ScratchFolder folder;
  save_onnx(folder.file("net.onnx"), onnx_of(trace(net, {"batch", 4})));
  const Model m = load_onnx(folder.file("net.onnx"));
  EXPECT_EQ(m.functions.size(), 3u);
  Random random(2);
  for (int64_t batch : {1, 3, 5}) {
    const Tensor x = random.uniform_tensor({batch, 4}, -1, 1), y = run_model(m, {{"x", x}}).at("y").tensor();
    const std::vector<double> is = y.reals(), should_be = net(Variable(x)).value().reals();
    ASSERT_EQ(is.size(), should_be.size());
    for (size_t i = 0; i < is.size(); ++i) EXPECT_NEAR(is[i], should_be[i], 1e-6);
  }
}

// Rows of one size as those of another: the body is told it by no operand.
const Operation spread("spread", [](Value x) {
  return formula::compute("spread", {x.extent(0) * 2, x.extent(1)},
                          [&](formula::Expression i, formula::Expression j) { return x(quotient(i, 2), j); });
});

TEST(ExportFunctions, WhatAFunctionCannotKnowIsWrittenAsItIs) {
  struct Net : Module {
    Variable forward(const Variable &x) override {
      const Shape &s = x.shape();
      return spread(reshape(x, {s[0] * s[1], s[2]}));
    }
  } net;
  const Model m = onnx_of(trace(net, {"a", "b", 3}));
  EXPECT_TRUE(m.functions.empty());
  const Tensor x = Random(2).uniform_tensor({2, 3, 3}, -1, 1), y = run_model(m, {{"x", x}}).at("y").tensor();
  EXPECT_EQ(y.shape(), (Shape{12, 3}));
  EXPECT_EQ(y.reals(), net(Variable(x)).value().reals());
}

}  // namespace
}  // namespace saltern
