// The gradient of layer norm beside loops in f64, at numbers of rows and columns around those of blocks and chunks.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "runtime/autograd/operation.h"
#include "runtime/tensor/random.h"

namespace saltern {
namespace {

constexpr double epsilon = 1e-3;

TEST(LayerNorm, GradientIsThatOfLoopsHoweverManyRowsThereAre) {
  for (const auto &[count, size] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 5}, {127, 63}, {128, 64}, {129, 65}, {300, 479}, {3, 70001}, {4000, 33}}) {
    Random random(static_cast<uint64_t>(count));
    const Tensor x = random.uniform_tensor({count, size}, -1, 3), scale = random.uniform_tensor({size}, -1, 1),
                 dy = random.uniform_tensor({count, size}, -1, 1);
    const std::vector<Tensor> d =
        find_operation("layer_norm_gradient")->compute({x, scale, dy}, {{"axis", int64_t{1}}, {"epsilon", epsilon}});
    std::vector<double> dscale(static_cast<size_t>(size)), dshift(dscale);
    double off = 0;
    for (int64_t n = 0; n < count; ++n) {
      const float *row = x.data<float>() + n * size, *of_y = dy.data<float>() + n * size, *s = scale.data<float>();
      const auto mean = [&](const auto &f) {
        double sum = 0;
        for (int64_t c = 0; c < size; ++c) sum += f(c);
        return sum / static_cast<double>(size);
      };
      const double middle = mean([&](int64_t c) { return row[c]; });
      const double factor = 1 / std::sqrt(mean([&](int64_t c) { return std::pow(row[c] - middle, 2); }) + epsilon);
      const auto h = [&](int64_t c) { return (row[c] - middle) * factor; };
      const auto g = [&](int64_t c) { return static_cast<double>(of_y[c]) * s[c]; };
      const double mean_g = mean(g), mean_gh = mean([&](int64_t c) { return g(c) * h(c); });
      for (int64_t c = 0; c < size; ++c) {
        const double dx = factor * (g(c) - mean_g - h(c) * mean_gh);
        off = std::fmax(off, std::fabs(dx - d[0].data<float>()[n * size + c]));
        dscale[static_cast<size_t>(c)] += of_y[c] * h(c);
        dshift[static_cast<size_t>(c)] += of_y[c];
      }
    }
    EXPECT_LE(off, 1e-5 * std::sqrt(epsilon) / epsilon) << count << " rows of " << size;
    for (int64_t c = 0; c < size; ++c) {
      ASSERT_NEAR(d[1].data<float>()[c], dscale[static_cast<size_t>(c)], 2e-3) << count << " rows of " << size;
      ASSERT_NEAR(d[2].data<float>()[c], dshift[static_cast<size_t>(c)], 2e-3) << count << " rows of " << size;
    }
  }
}

}  // namespace
}  // namespace saltern
