#include "generators/model/argument_checks.h"

#include <gtest/gtest.h>

#include "generators/model/passes/passes.h"
#include "generators/model/planned_model.h"
#include "tests/errors.h"
#include "tests/graph_builder.h"

namespace saltern::generators {
namespace {

// A kernel that takes all of x, an image in rows, as these say.
std::string fault(Type type, const std::vector<int> &extents, Layout layout) {
  Graph g;
  g.add_input("x", {1, 3, 4, 5});
  EmittedKernel kernel;
  EmittedArgument a;
  a.extents = extents;
  a.value = "x";
  a.type = type;
  a.layout = layout;
  kernel.arguments = {a};
  try {
    check_arguments(g, kernel, "node 'y' (conv2d)");
  } catch (const Error &e) {
    return e.what();
  }
  return "";
}

TEST(ArgumentChecks, WhatTheValueIsIsAccepted) {
  EXPECT_EQ(fault(Type::f32, {5, 4, 3, 1}, Layout::row_major), "");
  EXPECT_EQ(fault(Type::f32, {60}, Layout::row_major), "");
}

TEST(ArgumentChecks, AnotherOrderTypeOrSizeIsRefusedByName) {
  for (const std::string &error :
       {fault(Type::f32, {3, 5, 4, 1}, Layout::channels_last), fault(Type::f64, {5, 4, 3, 1}, Layout::row_major),
        fault(Type::f32, {5, 4, 2, 1}, Layout::row_major)}) {
    EXPECT_TRUE(contains(error, "'y' (conv2d)"));
    EXPECT_TRUE(contains(error, "'x'"));
  }
}

TEST(ArgumentChecks, AConstantOfAnotherSizeIsRefused) {
  EmittedKernel kernel;
  EmittedArgument a;
  a.extents = {7};
  a.constant = Tensor::zeros({8});
  kernel.arguments = {a};
  EXPECT_TRUE(contains(error_of([&] { check_arguments({}, kernel, "node 'y' (dense)"); }), "[8]"));
}

// Where plans are made: of a graph whose layouts no pass has set, a kernel that reads images finds rows.
TEST(ArgumentChecks, APlanIsRefusedWhoseKernelTakesRowsForAnImage) {
  GraphBuilder b({1, 3, 8, 8});
  const Graph rows = b.finish({b.pool("max_pool2d", "x", 2, 2)}), prepared = prepared_for_inference(rows);
  EXPECT_EQ(planned({prepared}).plan.variants.size(), 1u);
  const std::string error = error_of([&] { planned({rows}); });
  EXPECT_TRUE(contains(error, "takes 'x' as f32 [1, 8, 8, 3] with channels innermost")) << error;
  EXPECT_TRUE(contains(error, "it is f32 [1, 3, 8, 8] in rows")) << error;
}

TEST(ArgumentChecks, StridesStayInsideTheMemory) {
  Graph g;
  g.add_input("x", {2, 6});
  EmittedArgument a;
  a.extents = {6, 2};
  a.value = "x";
  Homes::Home home = {"x", Piece::dense(0, 12)};
  EXPECT_EQ(checked_strides(g, a, home, "node 'y' (relu)"), (std::vector<int>{1, 6}));
  home.piece.offset = 3;
  EXPECT_TRUE(contains(error_of([&] { checked_strides(g, a, home, "node 'y' (relu)"); }), "does not fit"));
}

}  // namespace
}  // namespace saltern::generators
