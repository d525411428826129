// Casts: texts, small floats, the same bits; and quantization.

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/onnx/operators/onnx_types.h"
#include "runtime/tensor/small_floats.h"
#include "tests/run_operator.h"

namespace saltern {
namespace {

std::vector<uint8_t> codes(const HostValue &v) {
  const Tensor &t = v.tensor();
  const auto *p = static_cast<const uint8_t *>(t.raw());
  return {p, p + t.size()};
}

Attributes to(Type type) { return {{"to", int64_t{onnx_type(type)}}}; }

TEST(Cast, NumbersBecomeTheShortestTexts) {
  const Tensor x = numbers({6}, {0.1, 3, -1e-7, 1e20, INFINITY, NAN});
  EXPECT_EQ(values_of<std::string>(OperatorCall{"Cast", {x}, to(Type::text)}.on_host()[0]),
            (std::vector<std::string>{"0.1", "3.0", "-1e-07", "1e+20", "INF", "NaN"}));
}

TEST(Cast, TextsBecomeNumbers) {
  const Tensor x = Tensor::of<std::string>({4}, {"+INF", "-1E8", "nan", "100.5"});
  const auto reals = values_of<float>(OperatorCall{"Cast", {x}, to(Type::f32)}.on_host()[0]);
  EXPECT_EQ(reals[0], INFINITY);
  EXPECT_EQ(reals[1], -1e8F);
  EXPECT_TRUE(std::isnan(reals[2]));
  EXPECT_EQ(reals[3], 100.5F);
  const Tensor whole = Tensor::of<std::string>({2}, {"9007199254740993", "100.5"});
  EXPECT_EQ(values_of<int64_t>(OperatorCall{"Cast", {whole}, to(Type::i64)}.on_host()[0]),
            (std::vector<int64_t>{9007199254740993, 100}));
  EXPECT_THROW((OperatorCall{"Cast", {Tensor::of<std::string>({}, {"Hello"})}, to(Type::f32)}.on_host()), Error);
}

TEST(Cast, WithoutSaturationOverflowIsWhatTheEncoderSays) {
  for (Type type : {Type::f8e4m3fn, Type::f8e4m3fnuz, Type::f8e5m2, Type::f8e5m2fnuz}) {
    std::vector<double> values;
    for (double v : {200., 240., 247., 248., 249., 448., 464., 465., 57344., 61439., 61440., 1e9, double(INFINITY)})
      values.insert(values.end(), {v, -v});
    const Tensor x = numbers({static_cast<int64_t>(values.size())}, values);
    const auto made = codes(OperatorCall{"Cast", {x}, to(type).with("saturate", int64_t{0})}.lowered()[0]);
    for (size_t i = 0; i < values.size(); ++i) {
      const float wanted = f32_of_small(type, small_of_f32(type, static_cast<float>(values[i]), false));
      const float got = f32_of_small(type, made[i]);
      EXPECT_TRUE(got == wanted || (std::isnan(got) && std::isnan(wanted))) << facts(type).name << " " << values[i];
    }
  }
}

TEST(Cast, PowersOfTwoRoundAsAsked) {
  const Tensor x = numbers({5}, {1, 1.25, 1.5, 3.9, 0});
  const auto cast = [&](const char *mode, bool saturate) {
    return codes(
        OperatorCall{"Cast", {x}, to(Type::f8e8m0).with("round_mode", mode).with("saturate", int64_t{saturate})}
            .lowered()[0]);
  };
  EXPECT_EQ(cast("up", true), (std::vector<uint8_t>{127, 128, 128, 129, 0}));
  EXPECT_EQ(cast("down", true), (std::vector<uint8_t>{127, 127, 127, 128, 0}));
  EXPECT_EQ(cast("nearest", false), (std::vector<uint8_t>{127, 127, 128, 129, 255}));
}

TEST(BitCast, KeepsBitsOfAllWidths) {
  const Tensor x = numbers({3}, {-1, -8, 7}, Type::i4);
  EXPECT_EQ(codes(OperatorCall{"BitCast", {x}, to(Type::u4)}.lowered()[0]), (std::vector<uint8_t>{15, 8, 7}));
  const Tensor one = numbers({1}, {1});
  EXPECT_EQ(values_of<uint32_t>(OperatorCall{"BitCast", {one}, to(Type::u32)}.lowered()[0])[0], 0x3F800000U);
  EXPECT_THROW((OperatorCall{"BitCast", {one}, to(Type::u16)}.lowered()), Error);
}

TEST(Moving, KeepsInfinitiesOfSmallFloats) {
  const Tensor x = Tensor::empty({2}, Type::f8e5m2);
  static_cast<uint8_t *>(x.raw())[0] = 0x7C;
  static_cast<uint8_t *>(x.raw())[1] = 0xFC;
  const Tensor order = Tensor::of<int64_t>({2}, {1, 0});
  EXPECT_EQ(codes(OperatorCall{"Gather", {x, order}}.lowered()[0]), (std::vector<uint8_t>{0xFC, 0x7C}));
}

TEST(QuantizeLinear, BlocksNeedNotFill) {
  const Tensor x = numbers({1, 5}, {1, 2, 3, 4, 5}), scale = numbers({1, 3}, {1, 0.5, 0.25});
  const Attributes blocks = {{"axis", int64_t{1}}, {"block_size", int64_t{2}}};
  const HostValue q = OperatorCall{"QuantizeLinear", {x, scale}, blocks}.lowered()[0];
  EXPECT_EQ(codes(q), (std::vector<uint8_t>{1, 2, 6, 8, 20}));
  EXPECT_EQ(values_of<float>(OperatorCall{"DequantizeLinear", {q, scale}, blocks}.lowered()[0]), values_of<float>(x));
}

// As NumPy and ONNX Runtime have it.
TEST(Cast, WhatAnIntegerDoesNotHoldIsTheLeastOneThatItComesFrom) {
  const Tensor x = numbers({6}, {NAN, INFINITY, -INFINITY, 0x1p31, 1e30, 1000});
  const auto casted = [&](int64_t to) { return OperatorCall{"Cast", {x}, {{"to", to}}}.lowered()[0]; };
  const int32_t least = std::numeric_limits<int32_t>::min();
  const int64_t least_of_64 = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(values_of<int32_t>(casted(6)), (std::vector<int32_t>{least, least, least, least, least, 1000}));
  EXPECT_EQ(values_of<int8_t>(casted(3)), (std::vector<int8_t>{0, 0, 0, 0, 0, -24}));
  EXPECT_EQ(values_of<int64_t>(casted(7)),
            (std::vector<int64_t>{least_of_64, least_of_64, least_of_64, int64_t{1} << 31, least_of_64, 1000}));
}

TEST(QuantizeLinear, NaNIsTheLeast) {
  const Tensor x = numbers({2}, {NAN, 1}), one = numbers({}, {1}), zero = numbers({}, {10}, Type::i8);
  EXPECT_EQ(values_of<int8_t>(OperatorCall{"QuantizeLinear", {x, one, zero}}.lowered()[0]),
            (std::vector<int8_t>{-128, 11}));
}

TEST(QuantizeLinear, RoundsHalvesToEvenAndSaturates) {
  const Tensor x = numbers({5}, {0.5, 1.5, -1e30, 1e30, -2.5}), one = numbers({}, {1}),
               zero = numbers({}, {0}, Type::i4);
  EXPECT_EQ(codes(OperatorCall{"QuantizeLinear", {x, one, zero}}.lowered()[0]),
            (std::vector<uint8_t>{0, 2, 0xF8, 7, 0xFE}));
}

}  // namespace
}  // namespace saltern
