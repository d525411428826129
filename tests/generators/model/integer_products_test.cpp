// Products of bytes in compiled models: sums are those of plain loops, to the last bit, on every instruction set; what
// follows them is computed in their kernel.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "generators/model/compile.h"
#include "generators/model/kernel_targets.h"
#include "generators/model/passes/passes.h"
#include "runtime/graph/executor.h"
#include "runtime/kernels/compiled_model.h"
#include "runtime/kernels/instruction_set.h"
#include "tests/compiled_program.h"

namespace saltern::generators {
namespace {

using Tensors = std::map<std::string, Tensor>;

// Every value of the type, its ends more often: sums grow as large as they can.
template <typename T>
Tensor random_bytes(const Shape &shape, unsigned seed) {
  std::mt19937 random(seed);
  const Tensor t = Tensor::empty(shape, TypeOf<T>::value);
  constexpr int low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  for (int64_t i = 0; i < t.size(); ++i) {
    const auto drawn = static_cast<int>(random() % 1024);
    t.data<T>()[i] = static_cast<T>(drawn < 256 ? low + drawn : drawn < 640 ? low : high);
  }
  return t;
}

struct Case {
  Shape image, weights;
  int64_t stride = 1, zero = 0, groups = 1;
  Shape pads = {0, 0, 0, 0};
  int64_t dilation_y = 1;
};

Shape result_of(const Case &c) {
  const auto along = [&](size_t d, int64_t dilation) {
    return (c.image[d + 2] + c.pads[d] + c.pads[d + 2] - dilation * (c.weights[d + 2] - 1) - 1) / c.stride + 1;
  };
  return {c.image[0], c.weights[0], along(0, c.dilation_y), along(1, 1)};
}

std::vector<double> by_loops(const Case &c, const Tensor &x, const Tensor &w) {
  const Shape y = result_of(c);
  std::vector<double> sums;
  for (int64_t n = 0; n < y[0]; ++n)
    for (int64_t o = 0; o < y[1]; ++o)
      for (int64_t row = 0; row < y[2]; ++row)
        for (int64_t column = 0; column < y[3]; ++column) {
          int64_t sum = 0;
          for (int64_t k = 0; k < c.weights[1]; ++k)
            for (int64_t ky = 0; ky < c.weights[2]; ++ky)
              for (int64_t kx = 0; kx < c.weights[3]; ++kx) {
                const int64_t at_y = row * c.stride + ky * c.dilation_y - c.pads[0],
                              at_x = column * c.stride + kx - c.pads[1], channel = c.groups == 1 ? k : o;
                if (at_y < 0 || at_x < 0 || at_y >= c.image[2] || at_x >= c.image[3]) continue;
                sum += (x.at<uint8_t>({n, channel, at_y, at_x}) - c.zero) * w.at<int8_t>({o, k, ky, kx});
              }
          sums.push_back(static_cast<double>(sum));
        }
  return sums;
}

Attributes attributes_of(const Case &c) {
  return {{"strides", Shape{c.stride, c.stride}},
          {"dilations", Shape{c.dilation_y, 1}},
          {"pads", c.pads},
          {"groups", c.groups},
          {"zero", c.zero}};
}

// Awkward numbers of channels, outputs and pixels; windows that reach past edges, and taps that are no fours.
std::vector<Case> cases() {
  return {
      {{1, 16, 7, 9}, {16, 16, 1, 1}, 1, 3},
      {{2, 5, 6, 7}, {19, 5, 1, 1}, 1, 128},
      {{1, 3, 17, 19}, {33, 3, 7, 7}, 2, 114, 1, {3, 3, 3, 3}},
      {{1, 12, 9, 11}, {48, 12, 3, 3}, 1, 255, 1, {1, 1, 1, 1}},
      {{2, 17, 10, 8}, {7, 17, 3, 3}, 2, 0, 1, {0, 1, 2, 0}},
      {{1, 64, 14, 14}, {32, 64, 1, 1}, 2, 9},
      {{3, 4, 1, 1}, {40, 4, 1, 1}, 1, 77},
      {{1, 8, 5, 5}, {16, 8, 5, 5}, 1, 200},
      {{1, 4, 12, 6}, {5, 4, 3, 2}, 1, 31, 1, {2, 0, 2, 1}, 2},
      {{1, 32, 13, 15}, {32, 1, 3, 3}, 1, 128, 32, {1, 1, 1, 1}},
      {{2, 20, 9, 8}, {20, 1, 5, 5}, 2, 40, 20, {2, 1, 2, 2}},
      {{1, 3, 6, 6}, {3, 1, 3, 3}, 1, 255, 3, {0, 2, 1, 0}},
      {{1, 24, 4, 3}, {24, 1, 2, 2}, 1, 0, 24},
  };
}

// All of them as one graph, whose outputs are sums.
Graph graph_of(const std::vector<Case> &all, Tensors &inputs, std::vector<std::vector<double>> &want) {
  Graph g;
  for (size_t i = 0; i < all.size(); ++i) {
    const Case &c = all[i];
    const std::string x = "x" + std::to_string(i), w = "w" + std::to_string(i);
    g.add_input(x, c.image, Type::u8);
    inputs[x] = random_bytes<uint8_t>(c.image, static_cast<unsigned>(i));
    g.add_constant(w, random_bytes<int8_t>(c.weights, static_cast<unsigned>(100 + i)));
    g.outputs.push_back(
        g.add_node("integer_conv2d", {x, w}, "y" + std::to_string(i), result_of(c), attributes_of(c), Type::i32));
    want.push_back(by_loops(c, inputs.at(x), g.value(w).constant));
  }
  return g;
}

std::vector<Tensor> results(const Graph &g, const Tensors &inputs, const std::string &target, int threads) {
  const TemporaryFolder folder;
  static const TemporaryFolder cache;
  CompileOptions options;
  options.name = "net";
  options.folder = folder.path();
  options.cache = cache.path();
  options.shared = true;
  options.targets = {target};
  const CompiledLibrary library(compile_model(g, options).shared_library, "net", threads);
  std::vector<Tensor> given;
  for (const auto &e : library.inputs()) given.push_back(inputs.at(e.name));
  library.run(given);
  return library.run(given);  // what is left of the first run must not matter
}

TEST(IntegerProducts, TheExecutorGivesWhatLoopsGive) {
  Tensors inputs;
  std::vector<std::vector<double>> want;
  const Graph g = graph_of(cases(), inputs, want);
  validate(g);
  const Tensors got = run(g, inputs);
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(got.at(g.outputs[i]).reals(), want[i]) << i;
}

class IntegerProductsOn : public testing::TestWithParam<InstructionSet> {};

TEST_P(IntegerProductsOn, GiveWhatLoopsGive) {
  Tensors inputs;
  std::vector<std::vector<double>> want;
  const Graph g = graph_of(cases(), inputs, want);
  for (int threads : {1, 3}) {
    const std::vector<Tensor> got = results(g, inputs, std::string(name(GetParam())), threads);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(got[i].reals(), want[i]) << i << ", " << threads << " threads";
  }
}

// Scaled, rounded, brought within bounds, added to another image of bytes: all in one kernel.
TEST_P(IntegerProductsOn, AreRoundedInTheirKernels) {
  using namespace formula;
  for (const Case &c : {Case{{1, 16, 9, 10}, {24, 16, 3, 3}, 1, 100, 1, {1, 1, 1, 1}},
                        Case{{1, 24, 9, 10}, {24, 1, 3, 3}, 1, 7, 24, {1, 1, 1, 1}}}) {
    Graph g;
    Tensors inputs;
    const Shape shape = result_of(c);
    g.add_input("x", c.image, Type::u8);
    g.add_input("residual", shape, Type::u8);
    inputs["x"] = random_bytes<uint8_t>(c.image, 1);
    inputs["residual"] = random_bytes<uint8_t>(shape, 2);
    g.add_constant("w", random_bytes<int8_t>(c.weights, 3));
    const Tensor scale = random_tensor({c.weights[0], 1, 1}, 4, 1e-4F, 3e-4F);
    g.add_constant("scale", scale);
    g.add_node("integer_conv2d", {"x", "w"}, "sums", shape, attributes_of(c), Type::i32);
    const std::vector<Expression> here = {axis(0), axis(1), axis(2), axis(3)};
    const Expression scaled = cast(Type::f32, load(0, Type::i32, here)) * load(1, Type::f32, {axis(1), 0, 0}),
                     low = constant(Type::f32, -12),
                     byte = cast(Type::u8, call(Function::round, select(low < scaled, min(scaled, 243.0), low)) + 12.0);
    g.add_node("formula", {"sums", "scale"}, "bytes", shape, {{"element", byte}}, Type::u8);
    const Expression sum = cast(Type::i32, load(0, Type::u8, here)) + cast(Type::i32, load(1, Type::u8, here));
    g.add_node("formula", {"bytes", "residual"}, "y", shape, {{"element", sum}}, Type::i32);
    g.outputs = {"y"};
    validate(g);
    EXPECT_EQ(group_nodes(prepared_to_compile(g, false)).size(), 1u);
    const std::vector<double> sums = by_loops(c, inputs.at("x"), g.value("w").constant),
                              got = results(g, inputs, std::string(name(GetParam())), 2)[0].reals(),
                              others = inputs.at("residual").reals(), scales = scale.reals();
    const auto pixels = static_cast<size_t>(shape[2] * shape[3]);
    int inside = 0;
    for (size_t i = 0; i < sums.size(); ++i) {
      const float real = static_cast<float>(sums[i]) * static_cast<float>(scales[i / pixels % scales.size()]);
      const float rounded = std::nearbyint(real) + 12;
      inside += rounded > 0 && rounded < 255;
      ASSERT_EQ(got[i], std::min(std::max(rounded, 0.0F), 255.0F) + others[i]) << i;
    }
    EXPECT_GT(inside, 100) << "rounding is seen";
  }
}

INSTANTIATE_TEST_SUITE_P(IntegerProducts, IntegerProductsOn, testing::ValuesIn(available_instruction_sets()),
                         [](const auto &set) { return std::string(name(set.param)); });

TEST(IntegerProducts, DenseRows) {
  Graph g;
  Tensors inputs;
  g.add_input("x", {7, 45}, Type::u8);
  inputs["x"] = random_bytes<uint8_t>({7, 45}, 1);
  const Tensor w = random_bytes<int8_t>({21, 45}, 2);
  g.add_constant("w", w);
  g.outputs = {g.add_node("integer_dense", {"x", "w"}, "y", {7, 21}, {{"zero", int64_t{130}}}, Type::i32)};
  const std::vector<double> executed = run(g, inputs).at("y").reals(),
                            compiled = results(g, inputs, best_target_here(), 2)[0].reals();
  for (int64_t i = 0; i < 7; ++i)
    for (int64_t j = 0; j < 21; ++j) {
      int64_t sum = 0;
      for (int64_t k = 0; k < 45; ++k) sum += (inputs.at("x").at<uint8_t>({i, k}) - 130) * w.at<int8_t>({j, k});
      EXPECT_EQ(executed[static_cast<size_t>(i * 21 + j)], static_cast<double>(sum));
      EXPECT_EQ(compiled[static_cast<size_t>(i * 21 + j)], static_cast<double>(sum));
    }
}

TEST(IntegerProducts, AreCompiledForVnniBesideAvx512) {
  EmittedKernel kernel;
  const std::vector<CpuTarget> asked(cpu_targets().begin(), cpu_targets().end());
  EXPECT_EQ(targets_of(kernel, asked).size(), asked.size());
  kernel.multiplies_bytes = true;
  const std::vector<CpuTarget> all = targets_of(kernel, asked);
  ASSERT_EQ(all.size(), asked.size() + 1);
  EXPECT_EQ(all[0].name, "avx512_vnni");
  EXPECT_EQ(targets_of(kernel, {asked[1]}).size(), 1u);
}

}  // namespace
}  // namespace saltern::generators
