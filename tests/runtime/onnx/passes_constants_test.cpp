// Folding: what constants alone decide is a constant, and so is what shapes alone decide.

#include "tests/imported_model.h"

namespace saltern {
namespace {

TEST(FoldedConstants, ChainsOfConstantsAreConstants) {
  expect_pass(with_folded_constants,
              "input x f32 [2]\nconstant a f32 [2] = [1.0, 2.0]\nnode Mul(a, a) -> b\nnode Neg(b) -> c\n"
              "node Add(x, c) -> y\noutput y\n",
              "input x f32 [2]\nconstant c f32 [2] = [-1.0, -4.0]\nnode Add(x, c) -> y\noutput y\n");
}

TEST(FoldedConstants, ArithmeticOnKnownShapesIsAConstant) {
  const std::string front = "constant i i64 [1] = [1]\n",
                    back =
                        "node Shape(x) -> s\nnode Gather(s, i) -> width\nnode Concat(width, i) {axis = 0} -> to\n"
                        "node Reshape(x, to) -> y\noutput y\n";
  expect_pass(with_folded_constants, "input x f32 [1, 6]\n" + front + back,
              "input x f32 [1, 6]\nconstant to i64 [2] = [6, 1]\nnode Reshape(x, to) -> y\noutput y\n");
  // The batch is open, the width is not.
  expect_pass(with_folded_constants,
              "input x f32 [batch, 6]\n" + front +
                  "node Shape(x) -> s\nnode Gather(s, i) -> width\n"
                  "node Mul(s, width) -> y\noutput y\n",
              "input x f32 [batch, 6]\nconstant width i64 [1] = [6]\nnode Shape(x) -> s\nnode Mul(s, width) -> y\n"
              "output y\n");
}

TEST(FoldedConstants, OutputsDefaultsAndRandomNumbersStay) {
  expect_no_change(with_folded_constants, "constant a f32 [1] = [1.0]\nnode Neg(a) -> y\noutput y\n");
  expect_no_change(with_folded_constants, "input a f32 [1] = [1.0]\nnode Neg(a) -> b\nnode Abs(b) -> y\noutput y\n");
  const Model m = model_of("node RandomNormal() {shape = [3]} -> r\nnode Abs(r) -> y\noutput y\n");
  EXPECT_TRUE(is_same(with_folded_constants(m, infer_shapes(m)).graph, m.graph));
}

}  // namespace
}  // namespace saltern
