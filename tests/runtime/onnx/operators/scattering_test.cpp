// Scatter: its formulas and its host code say the same, which is what a loop over the updates says.

#include <gtest/gtest.h>

#include "tests/run_operator.h"

namespace saltern {
namespace {

const char *const reductions[] = {"none", "add", "mul", "max", "min"};

float merged(const std::string &reduction, float a, float b) {
  if (reduction == "add") return a + b;
  if (reduction == "mul") return a * b;
  if (reduction == "max") return std::max(a, b);
  return reduction == "min" ? std::min(a, b) : b;
}

TEST(ScatterElements, FormulaHostAndLoopAgree) {
  const Tensor data = numbers({3, 4}, {1, -2, 3, 4, 5, 6, -7, 8, 9, 10, 11, -12});
  const Tensor indices = Tensor::of<int64_t>({2, 3}, {0, -1, 0, 3, 3, 1});  // hits twice, and one row not at all
  const Tensor updates = numbers({2, 3}, {2, -3, 4, 5, -6, 7});
  for (const std::string reduction : reductions) {
    std::vector<float> wanted = values_of<float>(data);
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t j = 0; j < 3; ++j) {
        const int64_t at = (indices.at<int64_t>({i, j}) + 4) % 4;
        float &to = wanted[static_cast<size_t>(i * 4 + at)];
        to = merged(reduction, to, updates.at<float>({i, j}));
      }
    const OperatorCall c = {
        "ScatterElements", {data, indices, updates}, {{"axis", int64_t{1}}, {"reduction", reduction}}};
    EXPECT_EQ(values_of<float>(c.lowered()[0]), wanted) << reduction;
    EXPECT_EQ(values_of<float>(c.on_host()[0]), wanted) << reduction;
  }
}

TEST(ScatterND, FormulaHostAndLoopAgree) {
  const Tensor data = numbers({3, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Tensor indices = Tensor::of<int64_t>({2, 2, 2}, {0, 1, 2, 0, 0, -1, -3, 0});
  const Tensor updates = numbers({2, 2, 2}, {2, -3, 4, 5, -6, 7, 0.5, 1});
  for (const std::string reduction : reductions) {
    std::vector<float> wanted = values_of<float>(data);
    for (int64_t row = 0; row < 4; ++row)
      for (int64_t k = 0; k < 2; ++k) {
        const int64_t *at = indices.data<int64_t>() + row * 2;
        float &to = wanted[static_cast<size_t>((at[0] + 3) % 3 * 4 + (at[1] + 2) % 2 * 2 + k)];
        to = merged(reduction, to, updates.data<float>()[row * 2 + k]);
      }
    const OperatorCall c = {"ScatterND", {data, indices, updates}, {{"reduction", reduction}}};
    EXPECT_EQ(values_of<float>(c.lowered()[0]), wanted) << reduction;
    EXPECT_EQ(values_of<float>(c.on_host()[0]), wanted) << reduction;
  }
}

TEST(ScatterElements, IntegersWrapAndTextsReplace) {
  const Tensor one = Tensor::of<int64_t>({1}, {0});
  const OperatorCall bytes = {
      "ScatterElements", {numbers({1}, {200}, Type::u8), one, numbers({1}, {100}, Type::u8)}, {{"reduction", "add"}}};
  EXPECT_EQ(values_of<uint8_t>(bytes.on_host()[0]), std::vector<uint8_t>{44});
  EXPECT_EQ(values_of<uint8_t>(bytes.lowered()[0]), std::vector<uint8_t>{44});
  const OperatorCall texts = {"ScatterElements",
                              {Tensor::of<std::string>({1}, {"old"}), one, Tensor::of<std::string>({1}, {"new"})}};
  EXPECT_EQ(values_of<std::string>(texts.on_host()[0]), std::vector<std::string>{"new"});
}

TEST(ScatterND, RefusesPlacesThatAreNone) {
  const OperatorCall c = {"ScatterND", {numbers({2}, {1, 2}), Tensor::of<int64_t>({1, 1}, {2}), numbers({1}, {5})}};
  EXPECT_THROW(c.on_host(), Error);
  EXPECT_THROW(c.lowered(), Error);
}

}  // namespace
}  // namespace saltern
