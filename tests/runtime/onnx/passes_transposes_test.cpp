// Transposes go down and cancel, and axes, pads and constants go with them.

#include "tests/imported_model.h"

namespace saltern {
namespace {

const std::string nchw = "{perm = [0, 3, 1, 2]}", nhwc = "{perm = [0, 2, 3, 1]}";
const std::string input = "input x f32 [n, 2, 3, 5]\n";

// To channels first, some nodes from a to b, and back.
std::string there_and_back(const std::string &constants, const std::string &nodes, const std::string &head = input) {
  return head + constants + "node Transpose(x) " + nchw + " -> a\n" + nodes + "node Transpose(b) " + nhwc +
         " -> z\nnode Neg(z) -> y\noutput y\n";
}

TEST(Transposes, CancelThroughOneOperand) {
  expect_pass(
      with_pushed_transposes, there_and_back("", "node Relu(a) -> r\nnode Sigmoid(r) -> b\n"),
      input + "node Relu(x) -> r.before\nnode Sigmoid(r.before) -> b.before\nnode Neg(b.before) -> y\noutput y\n");
}

TEST(Transposes, ConstantsAreTransposedBefore) {
  expect_pass(with_pushed_transposes,
              there_and_back("constant c f32 [5, 1, 1] = [1.0, 2.0, 3.0, 4.0, 5.0]\n", "node Mul(a, c) -> b\n"),
              input +
                  "constant c.transposed f32 [1, 1, 1, 5] = [1.0, 2.0, 3.0, 4.0, 5.0]\n"
                  "node Mul(x, c.transposed) -> b.before\nnode Neg(b.before) -> y\noutput y\n");
}

TEST(Transposes, AResidualBranchGoesWithIt) {
  expect_pass(
      with_pushed_transposes, there_and_back("", "node Relu(a) -> r\nnode Add(r, a) -> b\n"),
      input + "node Relu(x) -> r.before\nnode Add(r.before, x) -> b.before\nnode Neg(b.before) -> y\noutput y\n");
}

TEST(Transposes, AxesGoAlong) {
  expect_pass(with_pushed_transposes, there_and_back("", "node Softmax(a) {axis = 1} -> b\n"),
              input + "node Softmax(x) {axis = 3} -> b.before\nnode Neg(b.before) -> y\noutput y\n");
  expect_pass(with_pushed_transposes, there_and_back("", "node Concat(a, a) {axis = -2} -> b\n"),
              input + "node Concat(x, x) {axis = 1} -> b.before\nnode Neg(b.before) -> y\noutput y\n");
  expect_pass(with_pushed_transposes,
              there_and_back("constant axes i64 [2] = [2, 3]\n", "node ReduceMean(a, axes) -> b\n"),
              input +
                  "constant axes.moved i64 [2] = [1, 2]\nnode ReduceMean(x, axes.moved) -> b.before\n"
                  "node Neg(b.before) -> y\noutput y\n");
  expect_pass(with_pushed_transposes,
              there_and_back("constant p i64 [8] = [0, 0, 1, 2, 0, 0, 3, 4]\n", "node Pad(a, p) -> b\n"),
              input +
                  "constant p.moved i64 [8] = [0, 1, 2, 0, 0, 3, 4, 0]\nnode Pad(x, p.moved) -> b.before\n"
                  "node Neg(b.before) -> y\noutput y\n");
}

TEST(Transposes, DimensionsThatAReductionDropsLeaveNoGap) {
  expect_pass(
      with_pushed_transposes,
      input + "constant axes i64 [2] = [2, 3]\nnode Transpose(x) " + nchw +
          " -> a\nnode ReduceSum(a, axes) {keepdims = 0} -> y\noutput y\n",
      input + "constant axes.moved i64 [2] = [1, 2]\nnode ReduceSum(x, axes.moved) {keepdims = 0} -> y\noutput y\n");
}

TEST(Transposes, StayWhereTheyDoNotCancel) {
  expect_no_change(with_pushed_transposes,
                   input + "node Transpose(x) " + nchw + " -> a\nnode Relu(a) -> y\noutput y\n");
  // Softmax of old flattens.
  expect_no_change(with_pushed_transposes, there_and_back("", "node Softmax(a) {axis = 1} -> b\n"), 11);
  // The other operand is not transposed.
  expect_no_change(with_pushed_transposes,
                   there_and_back("", "node Add(a, w) -> b\n", input + "input w f32 [5, 2, 3]\n"));
}

TEST(Transposes, ConvolutionsOfChannelsLastModelsStandSideBySide) {
  const std::string weights = "constant w f32 [1, 1, 1, 1] = [2.0]\n";
  const Model m =
      model_of("input x f32 [n, 4, 4, 1]\n" + weights + "constant bias f32 [1] = [0.5]\nnode Transpose(x) " + nchw +
               " -> a\nnode Conv(a, w) -> b\nnode Transpose(b) " + nhwc +
               " -> c\nnode Add(c, bias) -> d\nnode Relu(d) -> e\nnode Transpose(e) " + nchw +
               " -> f\nnode Conv(f, w) -> g\nnode Transpose(g) " + nhwc + " -> y\noutput y\n");
  const Model made = optimized(m);
  std::string operators;
  for (const Graph::Node &n : made.graph.nodes) operators += n.operation + " ";
  EXPECT_EQ(operators, "Transpose Conv Relu Conv Transpose ") << to_text(made.graph);
  expect_same_results(m, made);
}

}  // namespace
}  // namespace saltern
