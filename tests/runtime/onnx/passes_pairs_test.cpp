// Two nodes that are one, and nodes that are a Reshape.

#include "tests/imported_model.h"

namespace saltern {
namespace {

TEST(Pairs, NegationsCancel) {
  expect_pass(with_merged_pairs, "input x f32 [3]\nnode Neg(x) -> a\nnode Neg(a) -> b\nnode Abs(b) -> y\noutput y\n",
              "input x f32 [3]\nnode Abs(x) -> y\noutput y\n");
}

TEST(Pairs, TheLastReshapeCounts) {
  const std::string shapes = "constant a i64 [2] = [3, 4]\nconstant b i64 [1] = [12]\n";
  expect_pass(with_merged_pairs,
              "input x f32 [2, 6]\n" + shapes + "node Reshape(x, a) -> p\nnode Reshape(p, b) -> y\noutput y\n",
              "input x f32 [2, 6]\nconstant b i64 [1] = [12]\nnode Reshape(x, b) -> y\noutput y\n");
  // A 0 keeps the extent of what the first one makes.
  expect_no_change(with_merged_pairs,
                   "input x f32 [2, 6]\nconstant a i64 [2] = [3, 4]\nconstant b i64 [2] = [0, -1]\n"
                   "node Reshape(x, a) -> p\nnode Reshape(p, b) -> y\noutput y\n");
}

TEST(Pairs, ShapesBecomeReshapesWithAtMostOneOpenExtent) {
  expect_pass(with_merged_pairs,
              "input x f32 [n, 1, 6]\nconstant one i64 [1] = [1]\nnode Squeeze(x, one) -> a\n"
              "node Flatten(a) -> y\noutput y\n",
              "input x f32 [n, 1, 6]\nconstant y.shape i64 [2] = [-1, 6]\nnode Reshape(x, y.shape) -> y\noutput y\n");
  expect_no_change(with_merged_pairs,
                   "input x f32 [n, m, 1]\nconstant two i64 [1] = [2]\nnode Squeeze(x, two) -> y\noutput y\n");
}

TEST(Pairs, TransposesAreOne) {
  expect_pass(with_merged_pairs,
              "input x f32 [2, 3, 4]\nnode Transpose(x) {perm = [1, 2, 0]} -> a\n"
              "node Transpose(a) {perm = [1, 0, 2]} -> y\noutput y\n",
              "input x f32 [2, 3, 4]\nnode Transpose(x) {perm = [2, 1, 0]} -> y\noutput y\n");
}

TEST(Pairs, ACastThatLosesNothingIsGone) {
  expect_pass(with_merged_pairs, "input x i8 [3]\nnode Cast(x) {to = 7} -> a\nnode Cast(a) {to = 1} -> y\noutput y\n",
              "input x i8 [3]\nnode Cast(x) {to = 1} -> y\noutput y\n");
  for (const char *through : {"6", "3"})  // i32 and i8 of f32
    expect_no_change(with_merged_pairs, "input x f32 [3]\nnode Cast(x) {to = " + std::string(through) +
                                            "} -> a\nnode Cast(a) {to = 11} -> y\noutput y\n");
}

}  // namespace
}  // namespace saltern
