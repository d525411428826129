// Winograd's form of a convolution is the convolution: the interpreter gives the same for both formulas in f64, but for
// rounding.

#include "schedules/forms/winograd.h"

#include <gtest/gtest.h>

#include "algorithms/convolution.h"
#include "tests/values.h"

namespace saltern {
namespace {

using algorithms::Slide;
using algorithms::Slides;
using formula::Value;

struct Case {
  int batch, channels_in, channels_out, height, width;
  Slide y, x;
};

Slide padded(int before, int behind) { return {1, 1, before, behind}; }

void expect_convolution(const Case &c, int tile, int images) {
  constexpr int lanes = 16;
  const int out_height = c.height + static_cast<int>(typical_value(c.y.pad + c.y.pad_behind)) - 2,
            out_width = c.width + static_cast<int>(typical_value(c.x.pad + c.x.pad_behind)) - 2;
  const auto random = [](const std::vector<int> &extents, unsigned seed) {
    return random_buffer(Halide::Float(64), extents, -1, 1, seed);
  };
  const std::vector<Halide::Buffer<>> buffers = {random({c.channels_in, c.width, c.height, c.batch}, 1),
                                                 random({3, 3, c.channels_in, c.channels_out}, 2)};
  const std::vector<Tensor> tensors = tensors_of(buffers);
  const formula::Values in = inputs_like(tensors);
  const Slides slides = {c.y, c.x};
  const Value plain = algorithms::convolution(formula::permuted(in[0], {0, 3, 1, 2}), in[1], slides),
              tiled = forms::winograd(in[0], forms::winograd_weights(in[1], tile, lanes).transformed,
                                      {tile, out_height, out_width, images}, slides)
                          .sums;
  const std::vector<Tensor> got = evaluate(formula::exact_formulas(in, {plain, tiled}), tensors);
  ASSERT_EQ(got[0].shape(), Shape({c.batch, c.channels_out, out_height, out_width}));
  ASSERT_EQ(got[1].shape()[1], out_height);
  const std::vector<double> want = got[0].reals(), have = got[1].reals();
  const int panels = (c.channels_out + lanes - 1) / lanes;
  size_t at = 0;
  for (int n = 0; n < c.batch; ++n)
    for (int y = 0; y < out_height; ++y)
      for (int x = 0; x < out_width; ++x)
        for (int o = 0; o < panels * lanes; ++o, ++at) {
          const size_t plain_at = static_cast<size_t>(((n * c.channels_out + o) * out_height + y) * out_width + x);
          ASSERT_NEAR(have[at], o < c.channels_out ? want[plain_at] : 0, 1e-11)
              << tile << ": " << y << " " << x << " " << o;
        }
}

TEST(Winograd, IsTheConvolutionOfItsFormula) {
  for (int tile : {2, 4})
    for (const Case &c : {Case{3, 3, 2, 8, 8, padded(1, 1), padded(1, 1)},
                          {2, 17, 18, 5, 7, padded(0, 0), padded(0, 0)},
                          {1, 1, 1, 3, 3, padded(0, 0), padded(0, 0)},
                          {1, 2, 3, 9, 6, padded(2, 0), padded(0, 3)}})
      for (int images : {1, 2, 3}) expect_convolution(c, tile, images);
}

// What kernels of constant weights take is what the formula says.
TEST(Winograd, ConstantWeightsAreThoseOfTheFormula) {
  const Halide::Buffer<> window = random_buffer(Halide::Float(64), {3, 3, 1, 1}, -1, 1, 3);
  const Tensor w = tensor_of(window);
  const std::vector<double> elements = w.reals();
  std::array<double, 9> nine = {};
  std::copy(elements.begin(), elements.end(), nine.begin());
  for (int tile : {2, 4}) {
    const formula::Values in = inputs_like({w});
    const Tensor all =
        evaluate(formula::exact_formulas(in, {forms::winograd_weights(in[0], tile, 1).transformed}), {w})[0];
    const std::vector<double> got = forms::transformed_window(nine, tile), want = all.reals();
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], want[i * forms::channel_chunk], 1e-15) << tile << ": " << i;
  }
}

}  // namespace
}  // namespace saltern
