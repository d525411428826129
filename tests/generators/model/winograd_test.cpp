// Convolutions by Winograd's minimal filtering: which ones are, that they give what plain loops give, and how far what is no
// number spreads.

#include "generators/model/winograd.h"

#include <gtest/gtest.h>

#include "generators/model/chains.h"
#include "generators/model/compile.h"
#include "generators/model/passes/passes.h"
#include "runtime/graph/executor.h"
#include "runtime/kernels/compiled_model.h"
#include "runtime/kernels/instruction_set.h"
#include "tests/compiled_program.h"

namespace saltern::generators {
namespace {

Geometry square(int channels_in, int channels_out, int size, int batch = 1) {
  return {channels_in, size, size, batch, 3, 3, channels_out, {{1, 1, 1, 1}, {1, 1, 1, 1}}};
}

TEST(Winograd, IsChosenByShape) {
  struct Row {
    int channels_in, channels_out, size, tile;
  };
  for (const Row &r : {Row{64, 64, 56, 4},
                       {128, 128, 28, 4},
                       {256, 256, 14, 2},
                       {512, 512, 7, 2},
                       {64, 64, 224, 4},
                       {512, 512, 28, 4},
                       {3, 64, 224, 0},
                       {16, 16, 56, 0},
                       {64, 8, 56, 0},
                       {512, 512, 1, 0}})
    EXPECT_EQ(fastest_tile(square(r.channels_in, r.channels_out, r.size)), r.tile)
        << r.channels_in << " to " << r.channels_out << " at " << r.size;
}

TEST(Winograd, IsForWindowsOfThreeThatSlideByOne) {
  GraphBuilder b({1, 64, 40, 40});
  std::string x = "x";
  for (const GraphBuilder::Conv &c :
       {GraphBuilder::Conv{64}, {64, 3, 2}, {64, 3, 1, 2, 2}, {64, 3, 1, 1, 1, 2}, {64, 5, 1, 2}})
    x = b.conv2d(x, c);
  std::vector<int> tiles;
  for (const Graph::Node &n : with_winograd(prepared_for_inference(b.finish({x}))).nodes)
    if (n.operation == "conv2d") tiles.push_back(winograd_tile(n));
  EXPECT_EQ(tiles, std::vector<int>({4, 0, 0, 0, 0}));
}

std::vector<Tensor> results(const Graph &g, const std::map<std::string, Tensor> &inputs, CompileOptions options,
                            int threads) {
  const TemporaryFolder folder;
  static const TemporaryFolder cache;
  options.name = "net";
  options.folder = folder.path();
  options.cache = cache.path();
  options.shared = true;
  const CompiledLibrary library(compile_model(g, options).shared_library, "net", threads);
  std::vector<Tensor> given;
  for (const auto &e : library.inputs()) given.push_back(inputs.at(e.name));
  library.run(given);
  return library.run(given);  // what is left of the first run must not matter
}

// Images of awkward sizes, each by both tiles, whatever is fastest.
Graph awkward() {
  GraphBuilder b;
  std::vector<std::string> outputs;
  const auto conv = [&](const std::string &x, const GraphBuilder::Conv &c, int64_t tile) {
    const std::string y = b.conv2d(x, c);
    b.graph.nodes.back().attributes.set("winograd_tile", tile);
    return y;
  };
  int number = 0;
  const auto image = [&](const Shape &shape) { return b.input("image" + std::to_string(number++), shape); };
  for (int64_t tile : {2, 4}) {
    // One tile or less; channels that fill neither chunk nor panel.
    outputs.push_back(conv(image({1, 3, 3, 3}), {2, 3, 1, 0}, tile));
    outputs.push_back(conv(image({1, 17, 5, 4}), {19}, tile));
    // A tile of one row and column more; full panels; without a bias; a residual.
    const std::string x = image({1, 32, 4 * tile + 1, 3 * tile + 1});
    outputs.push_back(b.apply("relu", {b.apply("add", {conv(x, {32, 3, 1, 1, 1, 1, false}, tile), x})}));
    // Several strips, of several samples; uneven padding; channels past the last panel with a factor each.
    const std::string y = conv(image({3, 20, 33, 29}), {40, 3, 1, 2}, tile);
    const std::string factors = b.constant("factors" + std::to_string(tile), {40, 1, 1});
    outputs.push_back(b.apply("multiply", {y, factors}));
    // Sets of small images; two samples whose panels are shared out.
    outputs.push_back(conv(image({12, 16, 6, 6}), {16}, tile));
    outputs.push_back(b.apply("relu", {conv(image({2, 33, 11, 13}), {128, 3, 1, 0}, tile)}));
  }
  for (Graph::Node &n : b.graph.nodes)  // one of them leaves its image more on one side
    if (n.operation == "conv2d" && n.inputs[0] == "image0") {
      n.attributes.set("pads", Shape{1, 0, 0, 2});
      b.graph.values.at(n.outputs[0]).shape = {1, 2, 2, 3};
    }
  return b.finish(outputs);
}

class WinogradOn : public testing::TestWithParam<InstructionSet> {};

TEST_P(WinogradOn, GivesWhatPlainLoopsGive) {
  const Graph g = awkward();
  const auto inputs = random_inputs(g);
  const NaiveValues want = run_naively(g, inputs);
  CompileOptions options;
  options.targets = {std::string(name(GetParam()))};
  const std::vector<Tensor> got = results(g, inputs, options, 1);
  ASSERT_EQ(got.size(), g.outputs.size());
  for (int threads : {2, 3}) {
    const std::vector<Tensor> again = results(g, inputs, options, threads);
    for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i].reals(), again[i].reals()) << threads << " threads: " << i;
  }
  for (size_t i = 0; i < got.size(); ++i) {
    const std::vector<double> have = got[i].reals();
    EXPECT_LE(relative_difference(std::vector<float>(have.begin(), have.end()), want.at(g.outputs[i]).data), 2e-5)
        << g.outputs[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Winograd, WinogradOn, testing::ValuesIn(available_instruction_sets()),
                         [](const auto &set) { return std::string(name(set.param)); });

// As training steps have them.
TEST_P(WinogradOn, TakesWeightsThatAreNotConstant) {
  GraphBuilder b;
  std::vector<std::string> outputs;
  int number = 0;
  const auto input = [&](const Shape &shape) { return b.input("in" + std::to_string(number++), shape); };
  const auto conv = [&](const std::vector<std::string> &from, const Shape &made, const Shape &pads, int64_t tile) {
    const Attributes a = {
        {"pads", pads}, {"strides", Shape{1, 1}}, {"dilations", Shape{1, 1}}, {"winograd_tile", tile}};
    return b.graph.add_node("conv2d", from, "out" + std::to_string(number++), made, a);
  };
  for (int64_t tile : {2, 4}) {
    const Shape even = {1, 1, 1, 1}, uneven = {0, 1, 2, 0};
    // Full panels with a bias that is no constant, and an epilogue; then channels that fill nothing.
    const std::string y = conv({input({2, 32, 9, 10}), input({48, 32, 3, 3}), input({48})}, {2, 48, 9, 10}, even, tile);
    outputs.push_back(b.apply("relu", {y}));
    outputs.push_back(conv({input({5, 7, 13, 6}), input({9, 7, 3, 3})}, {5, 9, 13, 5}, uneven, tile));
    outputs.push_back(conv({input({1, 3, 5, 5}), input({5, 3, 3, 3}), input({5})}, {1, 5, 5, 5}, even, tile));
  }
  const Graph g = b.finish(outputs);
  const auto inputs = random_inputs(g);
  const NaiveValues want = run_naively(g, inputs);
  CompileOptions options;
  options.targets = {std::string(name(GetParam()))};
  const std::vector<Tensor> got = results(g, inputs, options, 1), again = results(g, inputs, options, 3);
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].reals(), again[i].reals()) << g.outputs[i] << " on three threads";
    const std::vector<double> have = got[i].reals();
    EXPECT_LE(relative_difference(std::vector<float>(have.begin(), have.end()), want.at(g.outputs[i]).data), 2e-5)
        << g.outputs[i];
  }
}

TEST(Winograd, IsForGradientsOfImagesToo) {
  GraphBuilder b;
  b.input("w", {64, 64, 3, 3});
  b.input("dy", {4, 64, 32, 32});
  const Shape image = {4, 64, 32, 32};
  const Attributes a = {
      {"pads", Shape{1, 1, 1, 1}}, {"strides", Shape{1, 1}}, {"dilations", Shape{1, 1}}, {"shape", image}};
  const Graph g = b.finish({b.graph.add_node("conv2d_gradient_x", {"w", "dy"}, "dx", image, a)});
  int tile = 0;
  for (const Graph::Node &n : prepared_to_compile(g, false).nodes) tile = std::max(tile, winograd_tile(n));
  EXPECT_EQ(tile, 4);
  const auto inputs = random_inputs(g);
  const std::vector<double> want = run(g, inputs).at("dx").reals(),
                            got = results(g, inputs, {"", "", {best_target_here()}}, 2)[0].reals();
  EXPECT_LE(relative_difference(std::vector<float>(got.begin(), got.end()), want), 2e-5);
}

// One convolution of many channels, where errors are largest, as the compiler chooses it.
struct Large {
  Graph graph;
  std::map<std::string, Tensor> inputs;

  explicit Large(int64_t channels, int64_t size) {
    GraphBuilder b({1, channels, size, size});
    graph = b.finish({b.conv2d("x", {channels})});
    inputs = random_inputs(graph);
  }
  std::vector<double> result(bool exact) const {
    CompileOptions options;
    options.targets = {best_target_here()};
    options.exact_convolutions = exact;
    return results(graph, inputs, options, 2)[0].reals();
  }
};

double largest_difference(const std::vector<double> &a, const std::vector<double> &b) {
  double most = 0, largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    most = std::isnan(a[i] - b[i]) ? 1e30 : std::max(most, std::fabs(a[i] - b[i]));
    largest = std::max(largest, std::fabs(b[i]));
  }
  return most / largest;
}

TEST(Winograd, ErrorsAreSmallBesideTheLargestElement) {
  struct Row {
    int64_t channels, size;
    double bound;
  };
  for (const Row &r : {Row{64, 24, 2e-5}, {256, 20, 2e-5}, {256, 14, 2e-6}}) {
    const Large l(r.channels, r.size);
    const double error = largest_difference(l.result(false), l.result(true));
    EXPECT_LE(error, r.bound) << r.channels << " channels at " << r.size;
    EXPECT_GT(error, 0) << "it is another order of sums";
  }
}

TEST(Winograd, TheOptionTurnsItOff) {
  const Large l(64, 24);
  const std::vector<double> exact = l.result(true), want = [&] {
    const Tensor &x = l.inputs.at("x");
    return run_naively(l.graph, {{"x", x}}).at(l.graph.outputs[0]).data;
  }();
  EXPECT_LE(largest_difference(exact, want), 1e-6);
  const TemporaryFolder cache;
  CompileOptions options;
  options.name = "net";
  options.cache = cache.path();
  options.targets = {best_target_here()};
  const std::string fast = cached_library(l.graph, options);
  options.exact_convolutions = true;
  EXPECT_NE(cached_library(l.graph, options), fast) << "the cache knows which is which";
}

TEST(Winograd, WhatIsNoNumberStaysNearItsPlace) {
  Large l(32, 32);
  l.inputs["x"] = l.inputs.at("x").clone();
  const int64_t size = 32, at_y = 13, at_x = 18;
  l.inputs["x"].data<float>()[(5 * size + at_y) * size + at_x] = std::numeric_limits<float>::infinity();
  const std::vector<double> y = l.result(false);
  for (int64_t o = 0; o < 32; ++o)
    for (int64_t row = 0; row < size; ++row)
      for (int64_t column = 0; column < size; ++column) {
        const bool is_finite = std::isfinite(y[static_cast<size_t>((o * size + row) * size + column)]);
        const int64_t away = std::max(std::abs(row - at_y), std::abs(column - at_x));
        // Windows that see it are of it, and so may all pixels of their tiles be.
        EXPECT_FALSE(is_finite && away <= 1) << row << " " << column;
        EXPECT_TRUE(is_finite || away <= 4) << row << " " << column;
      }
}

TEST(Winograd, IsNoLinkOfAChain) {
  GraphBuilder b({1, 64, 160, 160});
  const Graph g = prepared_for_inference(b.finish({b.conv2d(b.conv2d("x", {64}), {64, 3, 1, 1, 1, 64})}));
  EXPECT_EQ(chained(g, group_nodes(g)).size(), 1u);
  const Graph marked = with_winograd(g);
  EXPECT_EQ(chained(marked, group_nodes(marked)).size(), 2u);
}

}  // namespace
}  // namespace saltern::generators
