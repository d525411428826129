#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/random.h"
#include "tests/values.h"

namespace saltern {
namespace {

using formula::Expression;
using formula::Value;
using formula::Values;

// The published vectors of Philox-2x32-10 (Random123): counter, key, bits.
TEST(Philox, GivesThePublishedVectors) {
  const std::vector<std::vector<uint32_t>> words = {{0, 0xffffffff, 0x243f6a88},
                                                    {0, 0xffffffff, 0x85a308d3},
                                                    {0, 0xffffffff, 0x13198a2e},
                                                    {0xff1dae59, 0x2c3f628b, 0xdd7ce038},
                                                    {0x6cd10df2, 0xab4fd7ad, 0xf62a4c12}};
  const auto word = [&](size_t i) { return buffer_with({3}, words[i]); };
  const auto bits = results_of(
      [](const Values &in) {
        Values both;
        for (const size_t i : {0, 1})
          both.push_back(formula::compute("bits", {in[0].extent(0)}, [&](Expression n) {
            return algorithms::philox({in[0](n), in[1](n)}, in[2](n))[i];
          }));
        return both;
      },
      {word(0), word(1), word(2)});
  for (const size_t i : {0, 1})
    for (int n = 0; n < 3; ++n) EXPECT_EQ(Halide::Buffer<uint32_t>(bits[i])(n), words[3 + i][static_cast<size_t>(n)]);
}

// Seed, offset and probability are scalars of the kernel.
Value dropout(const Value &x) {
  return algorithms::dropout(x, formula::symbol("seed", Type::i64, INT32_MIN, 1),
                             formula::symbol("offset", Type::i64, INT32_MIN, 1), formula::parameter("probability"));
}

formula::Numbers settings(int seed, int offset, float probability) {
  return {{"seed", seed}, {"offset", offset}, {"probability", probability}};
}

Halide::Buffer<float> dropped_ones(int count, int seed, int offset, float probability) {
  Halide::Buffer<float> ones(count);
  ones.fill(1);
  return result_of<float>([](const Values &in) { return dropout(in[0]); }, {ones}, settings(seed, offset, probability));
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
  expect_gradients([](const Values &in) { return dropout(in[0]); }, {random_buffer<double>({37}, 1)},
                   [](const Values &, const Value &dy) { return Values{dropout(dy)}; }, settings(5, 9, 0.4f));
}

}  // namespace
}  // namespace saltern
