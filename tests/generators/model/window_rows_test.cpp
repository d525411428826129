// Convolutions of images of few pixels, whose weights are computed, and their gradients: what the library's kernels give, on
// every CPU target that runs here, with the same bits for any number of threads.

#include <gtest/gtest.h>

#include "generators/model/emitters.h"
#include "runtime/graph/gradients.h"
#include "tests/compiled_graph.h"

namespace saltern {
namespace {

struct Case {
  Shape x, w, strides, dilations, pads;  // pads: top, left, bottom, right
  bool biased = false;
};

// y, and d_x and d_w of a given d_y.
Graph convolution_with_gradients(const Case &c) {
  Graph g;
  g.add_input("x", c.x);
  g.add_input("w", c.w);
  if (c.biased) g.add_input("b", {c.w[0]});
  const auto positions = [&](size_t d) {
    return (c.x[d + 2] + c.pads[d] + c.pads[d + 2] - c.dilations[d] * (c.w[d + 2] - 1) - 1) / c.strides[d] + 1;
  };
  const Attributes a = {{"strides", c.strides}, {"dilations", c.dilations}, {"pads", c.pads}, {"groups", int64_t{1}}};
  const std::vector<std::string> inputs =
      c.biased ? std::vector<std::string>{"x", "w", "b"} : std::vector<std::string>{"x", "w"};
  g.outputs = {g.add_node("conv2d", inputs, "y", {c.x[0], c.w[0], positions(0), positions(1)}, a)};
  return with_gradients(g, "y", {"x", "w"});
}

const std::vector<Case> cases = {
    {{3, 16, 2, 2}, {32, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, true},
    {{2, 32, 4, 4}, {16, 32, 3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
    {{5, 80, 3, 4}, {112, 80, 2, 3}, {1, 1}, {1, 1}, {0, 1, 1, 2}, true},  // no whole tiles, uneven zeros
    {{2, 16, 7, 9}, {16, 16, 3, 2}, {3, 2}, {2, 1}, {2, 0, 0, 1}},         // dilated, strided both ways
    {{1, 16, 3, 3}, {16, 16, 5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}},         // a window that is larger than the image
};

TEST(WindowRows, GiveWhatConvolutionsAndTheirGradientsAre) {
  std::vector<std::string> targets = {"sse41"};
  if (generators::best_target_here() != "sse41") targets.push_back(generators::best_target_here());
  for (const Case &c : cases)
    for (const std::string &target : targets) {
      const Graph g = convolution_with_gradients(c);
      size_t taken = 0;
      for (const Graph::Node &n : g.nodes) taken += generators::has_window_rows(g, n) ? 1 : 0;
      EXPECT_EQ(taken, 3u) << to_string(c.x);
      SCOPED_TRACE(to_string(c.x) + " " + target);
      expect_right_when_compiled(g, {target});
    }
}

TEST(WindowRows, LeaveOtherConvolutionsAlone) {
  const auto taken = [](const Case &c) {
    const Graph g = convolution_with_gradients(c);
    return generators::has_window_rows(g, g.nodes[0]);
  };
  Case c = cases[0];
  c.x = {3, 16, 8, 8};  // many pixels
  EXPECT_FALSE(taken(c));
  c = cases[0];
  c.w = {6, 16, 3, 3};  // no whole vector of channels
  EXPECT_FALSE(taken(c));
  c = cases[0];
  c.w = {32, 16, 1, 1};  // its windows are the pixels
  EXPECT_FALSE(taken(c));
}

}  // namespace
}  // namespace saltern
