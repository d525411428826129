// Operators of ONNX that compute element by element: where types and limits meet.

#include <gtest/gtest.h>

#include <cmath>

#include "tests/errors.h"
#include "tests/run_operator.h"

namespace saltern {
namespace {

TEST(Add, OldModelsSayWhereTheSecondInputStands) {
  OperatorCall call = {"Add", {numbers({2, 3, 1}, {0, 1, 2, 3, 4, 5}), numbers({2}, {10, 20})}, {{"axis", int64_t{0}}}};
  call.opset = 6;
  EXPECT_EQ(values_of<float>(call.lowered()[0]), (std::vector<float>{10, 11, 12, 23, 24, 25}));
  call.attributes = {{"axis", int64_t{2}}, {"broadcast", int64_t{1}}};
  expect_error([&] { call.lowered(); }, {"[2, 3, 1]", "[2]"});
}

TEST(Shrink, IntegersMoveByFractionsAndAreCutOff) {
  const OperatorCall call = {
      "Shrink", {numbers({6}, {-4, -2, -1, 1, 2, 4}, Type::i32)}, {{"lambd", 1.5}, {"bias", 1.75}}};
  EXPECT_EQ(values_of<int32_t>(call.lowered()[0]), (std::vector<int32_t>{-2, 0, 0, 0, 0, 2}));
}

TEST(Sign, OfNaNIsNaN) {
  const std::vector<float> y = values_of<float>(OperatorCall{"Sign", {numbers({4}, {NAN, -2, 0, 3})}}.lowered()[0]);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ((std::vector<float>{y.begin() + 1, y.end()}), (std::vector<float>{-1, 0, 1}));
}

TEST(ThresholdedRelu, InfinitiesBelowTheThresholdAreZero) {
  const OperatorCall call = {"ThresholdedRelu", {numbers({4}, {-INFINITY, -2, 0.5, INFINITY})}, {{"alpha", 0.25}}};
  EXPECT_EQ(values_of<float>(call.lowered()[0]), (std::vector<float>{0, 0, 0.5F, INFINITY}));
}

TEST(BitShift, AWordThatIsNoneOfTheKnownOnesIsNamedBesideThem) {
  const Tensor x = numbers({1}, {4}, Type::u8);
  expect_error(
      [&] {
        OperatorCall{"BitShift", {x, x}, {{"direction", std::string("UP")}}}.lowered();
      },
      {"direction is 'UP'; expected LEFT or RIGHT"});
  expect_error(
      [&] {
        OperatorCall{"DepthToSpace",
                     {numbers({1, 4, 1, 1}, {0, 1, 2, 3})},
                     {{"blocksize", int64_t{2}}, {"mode", std::string("RCD")}}}
            .lowered();
      },
      {"mode is 'RCD'; expected DCR or CRD"});
}

}  // namespace
}  // namespace saltern
