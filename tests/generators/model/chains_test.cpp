// Convolutions that are computed depth first, by one kernel: which ones are, and that they give what they give one after
// the other.

#include "generators/model/chains.h"

#include <gtest/gtest.h>

#include "generators/model/compile.h"
#include "generators/model/passes/passes.h"
#include "generators/model/toolchain.h"
#include "runtime/graph/executor.h"
#include "runtime/kernels/compiled_model.h"
#include "runtime/kernels/instruction_set.h"
#include "tests/compiled_program.h"

namespace saltern::generators {
namespace {

class Blocks : public GraphBuilder {
 public:
  using GraphBuilder::GraphBuilder;

  std::string relu6(const std::string &x) {
    using formula::axis;
    const formula::Expression here = formula::load(0, Type::f32, {axis(0), axis(1), axis(2), axis(3)});
    return graph.add_node("formula", {x}, x + ".relu6", graph.value(x).shape, {{"element", min(max(here, 0.0), 6.0)}});
  }
  std::string pointwise(const std::string &x, int64_t channels) { return conv2d(x, {channels, 1, 1, 0}); }
  struct Window {
    int64_t size = 3, stride = 1, padding = 1, dilation = 1;
  };
  std::string depthwise(const std::string &x, const Window &w) {
    const int64_t channels = graph.value(x).shape[1];
    return conv2d(x, {channels, w.size, w.stride, w.padding, w.dilation, channels});
  }
  // Expanded, depthwise, projected.
  std::string block(const std::string &x, int64_t wide, int64_t channels, const Window &w) {
    return pointwise(relu6(depthwise(relu6(pointwise(x, wide)), w)), channels);
  }
};

// The number of links of each chain.
std::vector<size_t> links(const Graph &g) {
  const Graph prepared = prepared_for_inference(g);
  std::vector<size_t> all;
  for (const Chain &c : chained(prepared, group_nodes(prepared))) all.push_back(c.links.size());
  return all;
}

using Lengths = std::vector<size_t>;

TEST(Chains, AreConvolutionsWhoseLargeResultsOnlyTheNextReads) {
  const Shape large = {1, 24, 128, 128}, small = {1, 24, 14, 14};
  Blocks inverted(large), on_small(small);
  EXPECT_EQ(links(inverted.finish({inverted.block("x", 96, 24, {})})), Lengths({3}));
  EXPECT_EQ(links(on_small.finish({on_small.block("x", 96, 24, {})})), Lengths({1, 1, 1}))
      << "what lies between is small";

  Blocks twice(large);
  const std::string wide = twice.pointwise("x", 96), sums = twice.depthwise(wide, {});
  EXPECT_EQ(links(twice.finish({twice.pointwise(sums, 24), wide})), Lengths({1, 2})) << "an output has to be whole";

  Blocks read_again(large);
  const std::string middle = read_again.depthwise(read_again.pointwise("x", 96), {});
  EXPECT_EQ(links(read_again.finish({read_again.pointwise(middle, 24), read_again.pointwise(middle, 8)})),
            Lengths({2, 1, 1}));

  Blocks separable({1, 96, 128, 128});
  std::string x = "x";
  for (int i = 0; i < 2; ++i) x = separable.pointwise(separable.depthwise(x, {}), 96);
  EXPECT_EQ(links(separable.finish({x})), Lengths({2, 2})) << "no group is in two chains";
}

// Compiles for one target; the results on one thread and on two have the same bits.
void expect_right(const Graph &g, const std::string &target) {
  const TemporaryFolder folder;
  CompileOptions options;
  options.name = "net";
  options.folder = folder.path();
  options.targets = {target};
  options.shared = true;
  const CompiledModel made = compile_model(g, options);
  const auto inputs = random_inputs(g);
  const auto expected = run(g, inputs);
  std::vector<std::vector<Tensor>> results;
  for (int threads : {1, 2}) {
    const CompiledLibrary library(made.shared_library, "net", threads);
    std::vector<Tensor> given;
    for (const auto &e : library.inputs()) given.push_back(inputs.at(e.name));
    results.push_back(library.run(given));
    for (size_t i = 0; i < results[0].size(); ++i) {
      const std::string name = library.outputs()[i].name;
      const std::vector<double> want = expected.at(name).reals(), got = results.back()[i].reals();
      EXPECT_EQ(got, results[0][i].reals()) << name << " on " << threads << " threads";
      ASSERT_EQ(want.size(), got.size());
      for (size_t e = 0; e < want.size(); ++e)
        ASSERT_NEAR(got[e], want[e], 1e-4 * (1 + std::fabs(want[e]))) << name << " at " << e << " for " << target;
    }
  }
}

class ChainsOn : public testing::TestWithParam<InstructionSet> {};

TEST_P(ChainsOn, GiveWhatTheirLinksGive) {
  Blocks b({1, 24, 97, 83});
  std::vector<std::string> outputs;
  // Channels that do not fill panels, an odd image, a residual.
  outputs.push_back(b.apply("relu", {b.apply("add", {b.block("x", 72, 24, {}), "x"})}));
  // Strides; a window that leaves the image more on one side, by the stride.
  b.input("odd", {1, 19, 163, 159});
  outputs.push_back(b.block("odd", 40, 21, {3, 2}));
  // Two samples; the last link has a factor for each channel.
  b.input("two", {2, 48, 113, 111});
  b.constant("factors", {33, 1, 1});
  outputs.push_back(b.apply("multiply", {b.pointwise(b.depthwise("two", {5, 1, 2}), 33), "factors"}));
  // A constant for each channel between links, and a depthwise convolution that ends a chain.
  b.input("tall", {1, 24, 161, 83});
  b.constant("between", {88, 1, 1});
  outputs.push_back(b.depthwise(b.apply("multiply", {b.pointwise("tall", 88), "between"}), {3, 1, 2, 2}));
  // A first layer: a window before the depthwise one, and no padding behind it.
  b.input("picture", {1, 3, 260, 246});
  const std::string first = b.relu6(b.conv2d("picture", {64, 3, 2, 1}));
  outputs.push_back(b.pointwise(b.depthwise(first, {3, 1, 0}), 16));
  const Graph g = b.finish(outputs);
  EXPECT_EQ(links(g), Lengths({3, 3, 2, 2, 3}));
  expect_right(g, std::string(name(GetParam())));
}

// No copy of the image is made: windows leave it on both sides of one tile, or lie outside of it almost whole.
TEST_P(ChainsOn, OfOneDepthwiseLinkAreRightAtEveryEdge) {
  Blocks b;
  std::vector<std::string> outputs;
  const auto alone = [&](const Shape &shape, const Blocks::Window &w) {
    const std::string image = b.input("image" + std::to_string(outputs.size()), shape);
    outputs.push_back(b.relu6(b.depthwise(image, w)));
  };
  alone({1, 16, 7, 7}, {});
  alone({2, 19, 5, 3}, {5, 1, 2});
  alone({1, 33, 9, 15}, {3, 2});
  alone({1, 40, 1, 1}, {3, 1, 1});
  alone({1, 17, 13, 23}, {3, 3, 4, 2});
  const Graph g = b.finish(outputs);
  expect_right(g, std::string(name(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, ChainsOn, testing::ValuesIn(available_instruction_sets()),
                         [](const auto &set) { return std::string(name(set.param)); });

}  // namespace
}  // namespace saltern::generators
