// What scales and shifts channels goes into the weights before it.

#include "tests/imported_model.h"

namespace saltern {
namespace {

const std::string conv = "input x f32 [n, 2, 3, 3]\nconstant w f32 [2, 2, 1, 1] = [1.0, 2.0, 3.0, 4.0]\n";
const std::string norm =
    "constant m f32 [2] = [1.0, -1.0]\nconstant v f32 [2] = [4.0, 0.25]\nconstant s f32 [2] = [2.0, 3.0]\n"
    "constant t f32 [2] = [0.5, 0.0]\n";

std::string operators_of(const Model &m) {
  std::string all;
  for (const Graph::Node &n : m.graph.nodes) all += n.operation + " ";
  return all;
}

// One node is left, and it gives the same.
void expect_one(const std::string &lines, const std::string &operation, int64_t opset = 21) {
  const Model m = model_of(lines, opset), made = without_dead_code(with_folded_scales(m, infer_shapes(m)));
  EXPECT_EQ(operators_of(made), operation + " ") << to_text(made.graph);
  expect_same_results(m, made);
}

TEST(FoldedScales, AConstantSumIsABias) {
  expect_pass(with_folded_scales,
              conv + "constant c f32 [2, 1, 1] = [10.0, 20.0]\nnode Conv(x, w) -> a\nnode Add(c, a) -> y\noutput y\n",
              "input x f32 [n, 2, 3, 3]\nconstant w.folded f32 [2, 2, 1, 1] = [1.0, 2.0, 3.0, 4.0]\n"
              "constant y.bias f32 [2] = [10.0, 20.0]\nnode Conv(x, w.folded, y.bias) -> y\noutput y\n");
}

TEST(FoldedScales, AScaleAloneAddsNoBias) {
  expect_pass(
      with_folded_scales,
      "input x f32 [n, 2]\nconstant w f32 [2, 1] = [1.0, 2.0]\nconstant half f32 [] = [0.5]\n"
      "node MatMul(x, w) -> a\nnode Mul(a, half) -> y\noutput y\n",
      "input x f32 [n, 2]\nconstant w.folded f32 [2, 1] = [0.5, 1.0]\nnode MatMul(x, w.folded) -> y\noutput y\n");
}

TEST(FoldedScales, ChainsGoIntoOneConv) {
  expect_one(conv + norm +
                 "constant b f32 [2] = [0.25, -8.0]\nconstant c f32 [1, 2, 1, 1] = [3.0, -2.0]\n"
                 "constant half f32 [] = [0.5]\nnode Conv(x, w, b) -> a\n"
                 "node BatchNormalization(a, s, t, m, v) {epsilon = 0.5} -> d\nnode Mul(d, c) -> e\n"
                 "node Sub(c, e) -> f\nnode Div(f, half) -> g\nnode Sub(g, half) -> y\noutput y\n",
             "Conv");
}

TEST(FoldedScales, TransposedConvolutionsAndTheirGroups) {
  for (const char *group : {"1", "2"}) {
    const std::string w = std::string(group) == "1"
                              ? "constant w f32 [2, 2, 1, 2] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]\n"
                              : "constant w f32 [2, 1, 1, 2] = [1.0, 2.0, 3.0, 4.0]\n";
    expect_one("input x f32 [n, 2, 3, 3]\n" + w + norm + "node ConvTranspose(x, w) {group = " + group +
                   "} -> a\nnode BatchNormalization(a, s, t, m, v) -> y\noutput y\n",
               "ConvTranspose");
  }
}

TEST(FoldedScales, MatricesBothWays) {
  const std::string x = "input x f32 [n, 3]\n", c = "constant c f32 [2] = [1.0, -2.0]\n";
  const std::string tall = "constant w f32 [3, 2] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]\n",
                    wide = "constant w f32 [2, 3] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]\n";
  expect_one(x + c + tall + "node MatMul(x, w) -> a\nnode Add(a, c) -> y\noutput y\n", "Gemm");
  expect_one(x + c + tall + "node Gemm(x, w, c) {beta = 2.0} -> a\nnode Mul(a, c) -> y\noutput y\n", "Gemm");
  expect_one(x + norm + wide +
                 "node Gemm(x, w) {transB = 1} -> a\n"
                 "node BatchNormalization(a, s, t, m, v) -> y\noutput y\n",
             "Gemm");
}

TEST(FoldedScales, WhatIsNotPerChannelOrReadTwiceStays) {
  const std::string made = "node Conv(x, w) -> a\n";
  expect_no_change(with_folded_scales, "input x f32 [n, 2, 3, 3]\nconstant c f32 [3] = [1.0, 2.0, 3.0]\n" +
                                           conv.substr(conv.find("constant")) + made +
                                           "node Mul(a, c) -> y\noutput y\n");
  expect_no_change(with_folded_scales, "input x f32 [n, 2, 3, 3]\nconstant c f32 [] = [2.0]\n" +
                                           conv.substr(conv.find("constant")) + made +
                                           "node Mul(a, c) -> b\nnode Add(a, b) -> y\noutput y\n");
  expect_no_change(with_folded_scales, "input x f32 [n, 2, 3, 3]\nconstant c f32 [] = [2.0]\n" +
                                           conv.substr(conv.find("constant")) + made +
                                           "node Mul(a, c) -> y\noutput a\noutput y\n");
  // Three dimensions are no matrix.
  expect_no_change(with_folded_scales,
                   "input x f32 [n, 2, 1]\nconstant c f32 [1] = [2.0]\nconstant w f32 [1, 1] = [3.0]\n"
                   "node MatMul(x, w) -> a\nnode Add(a, c) -> y\noutput y\n");
}

}  // namespace
}  // namespace saltern
