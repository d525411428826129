// Small floats: every code comes back, rounding is to the nearest with ties to even, and limits are those of the
// formats.

#include "runtime/tensor/small_floats.h"

#include <gtest/gtest.h>

#include <cmath>

namespace saltern {
namespace {

TEST(SmallFloats, EveryCodeOf16BitsComesBack) {
  for (int code = 0; code < 65536; ++code) {
    const auto c = static_cast<uint16_t>(code);
    const float half = f32_of_f16(c), brain = f32_of_bf16(c);
    if (!std::isnan(half)) {
      EXPECT_EQ(f16_of_f32(half), c);
    }
    if (!std::isnan(brain)) {
      EXPECT_EQ(bf16_of_f32(brain), c);
    }
    EXPECT_EQ(std::isnan(f32_of_f16(f16_of_f32(half))), std::isnan(half));
  }
}

TEST(SmallFloats, HalfRoundsToTheNearestTiesToEven) {
  EXPECT_EQ(f32_of_f16(f16_of_f32(65519.9F)), 65504);
  EXPECT_EQ(f32_of_f16(f16_of_f32(65520.0F)), INFINITY);
  EXPECT_EQ(f32_of_f16(f16_of_f32(1 + 0x1p-11F)), 1);                // a tie, down to even
  EXPECT_EQ(f32_of_f16(f16_of_f32(1 + 3 * 0x1p-11F)), 1 + 0x1p-9F);  // a tie, up to even
  EXPECT_EQ(f32_of_f16(f16_of_f32(0x1p-25F)), 0);                    // half of the smallest
  EXPECT_EQ(f32_of_f16(f16_of_f32(0x1.8p-25F)), 0x1p-24F);
  EXPECT_EQ(f32_of_bf16(bf16_of_f32(1 + 0x1p-8F)), 1);
  EXPECT_EQ(f32_of_bf16(bf16_of_f32(1 + 3 * 0x1p-8F)), 1 + 0x1p-6F);
}

TEST(SmallFloats, EveryCodeOf8And4BitsComesBack) {
  for (const TypeFacts &f : all_types()) {
    if (!f.is_small_real()) continue;
    const int codes = 1 << f.bits;
    for (int code = 0; code < codes; ++code) {
      const float v = f32_of_small(f.type, static_cast<uint8_t>(code));
      if (std::isfinite(v)) {
        EXPECT_EQ(small_of_f32(f.type, v), code) << f.name << " " << v;
      }
    }
  }
}

TEST(SmallFloats, LimitsAreThoseOfTheFormats) {
  EXPECT_EQ(largest_small(Type::f8e4m3fn), 448);
  EXPECT_EQ(largest_small(Type::f8e4m3fnuz), 240);
  EXPECT_EQ(largest_small(Type::f8e5m2), 57344);
  EXPECT_EQ(largest_small(Type::f8e5m2fnuz), 57344);
  EXPECT_EQ(largest_small(Type::f4e2m1), 6);
  EXPECT_EQ(f32_of_small(Type::f8e8m0, 127), 1);
  EXPECT_EQ(f32_of_small(Type::f8e8m0, 0), std::ldexp(1.0F, -127));
}

TEST(SmallFloats, TiesGoToEvenAndTooLargeSaturates) {
  EXPECT_EQ(f32_of_small(Type::f4e2m1, small_of_f32(Type::f4e2m1, 2.5F)), 2);  // between 2 and 3
  EXPECT_EQ(f32_of_small(Type::f4e2m1, small_of_f32(Type::f4e2m1, 3.5F)), 4);  // between 3 and 4
  EXPECT_EQ(f32_of_small(Type::f8e4m3fn, small_of_f32(Type::f8e4m3fn, 1e9F)), 448);
  EXPECT_TRUE(std::isnan(f32_of_small(Type::f8e4m3fn, small_of_f32(Type::f8e4m3fn, 1e9F, false))));
  EXPECT_EQ(f32_of_small(Type::f8e5m2, small_of_f32(Type::f8e5m2, -1e9F, false)), -INFINITY);
  EXPECT_EQ(f32_of_small(Type::f8e4m3fn, small_of_f32(Type::f8e4m3fn, 464.0F)), 448);
  EXPECT_TRUE(std::isnan(f32_of_small(Type::f8e5m2fnuz, small_of_f32(Type::f8e5m2fnuz, NAN))));
  EXPECT_EQ(small_of_f32(Type::f8e4m3fnuz, -0.0F), 0);
  EXPECT_EQ(f32_of_small(Type::f8e8m0, small_of_f32(Type::f8e8m0, 3.0F)), 4);
}

}  // namespace
}  // namespace saltern
