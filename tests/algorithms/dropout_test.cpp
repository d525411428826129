#include "algorithms/dropout.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/gradients.h"

namespace saltern {
namespace {

using dsl::Tensor;

// The published vectors of Philox-2x32-10 (Random123).
TEST(Philox, GivesThePublishedVectors) {
  const uint32_t vectors[][5] = {{0, 0, 0, 0xff1dae59, 0x6cd10df2},
                                 {0xffffffff, 0xffffffff, 0xffffffff, 0x2c3f628b, 0xab4fd7ad},
                                 {0x243f6a88, 0x85a308d3, 0x13198a2e, 0xdd7ce038, 0xf62a4c12}};
  for (const auto &v : vectors) {
    const auto bits = dsl::philox({Halide::Expr(v[0]), Halide::Expr(v[1])}, Halide::Expr(v[2]));
    EXPECT_EQ(Halide::evaluate<uint32_t>(bits[0]), v[3]);
    EXPECT_EQ(Halide::evaluate<uint32_t>(bits[1]), v[4]);
  }
}

Halide::Buffer<float> dropped_ones(int count, int seed, int offset, float probability) {
  Halide::Buffer<float> ones(count);
  ones.fill(1);
  return evaluate<float>(algorithms::dropout(Tensor(ones), seed, offset, probability));
}

int kept(const Halide::Buffer<float> &y) {
  int count = 0;
  y.for_each_value([&](float v) { count += v != 0; });
  return count;
}

int differing(const Halide::Buffer<float> &a, const Halide::Buffer<float> &b) {
  int count = 0;
  a.for_each_element([&](int i) { count += a(i) != b(i); });
  return count;
}

constexpr int many = 100000;

TEST(Dropout, KeepsTheShareThatItShould) {
  for (const float probability : {0.1f, 0.5f, 0.9f}) {
    const double expected = many * (1 - probability), deviation = std::sqrt(many * probability * (1 - probability));
    for (const int seed : {0, 1, -7})
      EXPECT_NEAR(kept(dropped_ones(many, seed, 0, probability)), expected, 5 * deviation);
  }
}

TEST(Dropout, PreservesTheMean) {
  const auto y = dropped_ones(many, 11, 0, 0.3f);
  double sum = 0;
  y.for_each_value([&](float v) { sum += v; });
  EXPECT_NEAR(sum / many, 1, 5 * std::sqrt(0.3 / 0.7 / many));
}

TEST(Dropout, KeepsAllAtZeroAndNoneAtOne) {
  EXPECT_EQ(kept(dropped_ones(1000, 3, 0, 0)), 1000);
  EXPECT_EQ(kept(dropped_ones(1000, 3, 0, 1)), 0);
}

TEST(Dropout, MaskIsAFunctionOfSeedAndOffset) {
  const auto mask = dropped_ones(many, 3, 40, 0.5f);
  EXPECT_EQ(differing(mask, dropped_ones(many, 3, 40, 0.5f)), 0);
  // Of two independent masks of one half, half differs.
  const double deviation = std::sqrt(many * 0.25);
  EXPECT_NEAR(differing(mask, dropped_ones(many, 4, 40, 0.5f)), many / 2, 5 * deviation);
  EXPECT_NEAR(differing(mask, dropped_ones(many, 3, 40 + many, 0.5f)), many / 2, 5 * deviation);
}

TEST(Dropout, OffsetContinuesWhereThePartBeforeEnded) {
  const auto whole = dropped_ones(100, 3, 0, 0.5f), rest = dropped_ones(60, 3, 40, 0.5f);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(rest(i), whole(40 + i));
}

TEST(Dropout, OffsetRunsOverTheLargestInteger) {
  const auto y = dropped_ones(2000, 3, 2147483647 - 1000, 0.5f);
  EXPECT_NEAR(kept(y), 1000, 5 * std::sqrt(500.0));
}

TEST(Dropout, GradientIsDropoutOfTheGradient) {
  check_gradient({random_buffer<double>({37}, 1)},
                 [](const Tensors &in) { return algorithms::dropout(in[0], 5, 9, 0.4f); },
                 {{0, [](const Tensors &, const Tensor &dy) { return algorithms::dropout(dy, 5, 9, 0.4f); }}});
}

}  // namespace
}  // namespace saltern
