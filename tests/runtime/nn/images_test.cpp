// Layers of images, of which sizes may be open: where they can be, a net that was traced is right at every size; where
// they cannot, it says so.

#include <gtest/gtest.h>

#include "runtime/graph/executor.h"
#include "runtime/graph/trace.h"
#include "runtime/nn/layer.h"

namespace saltern::nn {
namespace {

struct LayerCase {
  const char *name;
  std::vector<Argument> made_with;
  Named options = {};
};

const Extents open = {"batch", 4, "height", "width"};

const LayerCase sized[] = {
    {"AdaptiveAvgPool2d", {1}},
    {"AdaptiveMaxPool2d", {{1, Argument()}}},
    {"AvgPool2d", {3, 2}},
    {"AvgPool2d", {3, 2, 1, false, false}},
    {"CircularPad2d", {2}},
    {"ConstantPad2d", {{1, -2, 0, 3}, 1.5}},
    {"Conv2d", {4, 6, 3}, {{"stride", 2}, {"padding_mode", "reflect"}, {"padding", 1}}},
    {"Conv2d", {4, 6, {2, 3}}, {{"padding", "same"}, {"groups", 2}}},
    {"ConvTranspose2d", {4, 6, 3, 2}, {{"output_padding", 1}}},
    {"MaxPool2d", {3, 2, 1}},
    {"PixelShuffle", {2}},
    {"ReplicationPad2d", {{1, 2, 3, 4}}},
    {"Upsample", {}, {{"scale_factor", 2}}},
    {"Upsample", {}, {{"scale_factor", 3}, {"mode", "bilinear"}}},
    {"Upsample", {}, {{"scale_factor", 2}, {"mode", "bicubic"}}},
};

TEST(Images, LayersOfOpenSizesAreRightAtEverySize) {
  Random random(1);
  for (const LayerCase &c : sized) {
    Layer layer = make(c.name, c.made_with, c.options);
    SCOPED_TRACE(c.name + to_string(Argument(layer.made_with().values())));
    const Graph graph = trace(layer, open);
    for (const Shape &shape : {Shape{1, 4, 9, 11}, Shape{3, 4, 12, 10}, Shape{2, 4, 7, 8}}) {
      const Tensor x = random.uniform_tensor(shape, -1, 1), y = run(graph, {{"x", x}}).at("y"),
                   want = layer(Variable(x)).value();
      ASSERT_EQ(y.shape(), want.shape());
      const std::vector<double> is = y.reals(), should_be = want.reals();
      for (size_t i = 0; i < is.size(); ++i) ASSERT_NEAR(is[i], should_be[i], 1e-4) << i;
    }
  }
}

// Windows with strides that are formulas, not kernels, are written otherwise at sizes that they fill.
TEST(Images, PartsOfOpenSizesAreRefused) {
  const LayerCase refused[] = {
      {"AdaptiveAvgPool2d", {3}},
      {"AdaptiveMaxPool2d", {2}},
      {"AvgPool2d", {3, 2, 1, true}},
      {"AvgPool2d", {2}, {{"divisor_override", 3}}},
      {"FractionalMaxPool2d", {2}, {{"output_ratio", 0.5}}},
      {"LPPool2d", {2, 3, 2}},
      {"MaxPool2d", {3, 2}, {{"ceil_mode", true}}},
      {"PixelUnshuffle", {2}},
      {"Unfold", {{2, 3}}, {{"padding", 1}, {"stride", 2}}},
      {"Upsample", {{8, 8}}, {{"mode", "bilinear"}}},
      {"Upsample", {}, {{"scale_factor", 1.5}}},
      {"UpsamplingBilinear2d", {}, {{"scale_factor", 2}}},
  };
  for (const LayerCase &c : refused) {
    Layer layer = make(c.name, c.made_with, c.options);
    EXPECT_THROW(trace(layer, open), Error) << c.name;
  }
}

}  // namespace
}  // namespace saltern::nn
