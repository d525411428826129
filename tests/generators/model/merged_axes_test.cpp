// Formulas with fewer dimensions give the same elements.

#include "generators/model/merged_axes.h"

#include <gtest/gtest.h>

#include "dsl/derivative.h"
#include "tests/algorithm_cases.h"

namespace saltern {
namespace {

using generators::merged_axes;
using generators::MergedAxes;

class Merged : public testing::TestWithParam<size_t> {};

INSTANTIATE_TEST_SUITE_P(All, Merged, testing::Range<size_t>(0, algorithm_cases().size()),
                         [](const auto &info) { return case_name(algorithm_cases()[info.param].first, info.param); });

TEST_P(Merged, GivesTheSameElements) {
  Case c = algorithm_cases()[GetParam()].second();
  const auto expect_same = [&](const Values &outputs) {
    formula::Numbers numbers = sizes_of(c.given.inputs, c.given.tensors);
    numbers.insert(c.given.numbers.begin(), c.given.numbers.end());
    const MergedAxes m = merged_axes(c.given.inputs, outputs);
    std::vector<Tensor> given;
    for (size_t i = 0; i < m.inputs.size(); ++i) {
      Shape shape;
      for (const formula::Expression &e : m.inputs[i].extents()) shape.push_back(formula::number_of(e, numbers));
      given.push_back(c.given.tensors[i].reshaped(shape));
    }
    const std::vector<Tensor> got = evaluate(formula::exact_formulas(m.inputs, m.outputs, numbers), given);
    const std::vector<Tensor> want = values_of(outputs, c.given);
    for (size_t o = 0; o < want.size(); ++o) EXPECT_EQ(got[o].reals(), want[o].reals());
  };
  expect_same(c.outputs);
  expect_same(formula::gradient(c.outputs, seeded(c.outputs, c.given, "seed"), c.wanted));
}

std::vector<int> ranks(const Values &values) {
  std::vector<int> all;
  for (const Value &v : values) all.push_back(v.rank());
  return all;
}

TEST(MergedAxes, AreThoseThatAllStagesGoThroughTogether) {
  const Value x = formula::input("x", {formula::size("n"), formula::size("c"), formula::size("h"), formula::size("w")});
  const Value scale = formula::input("scale", {formula::size("c")});
  const auto merged_ranks = [&](const Value &y) {
    const MergedAxes m = merged_axes({x, scale}, {y});
    std::vector<int> all = ranks(m.inputs);
    all.push_back(m.outputs[0].rank());
    return all;
  };
  EXPECT_EQ(merged_ranks(mish(x)), (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(merged_ranks(x * by_channel(scale, x)), (std::vector<int>{3, 1, 3}));
  EXPECT_EQ(merged_ranks(instance_norm(x, scale, scale, 1e-5)), (std::vector<int>{3, 1, 3}));
  EXPECT_EQ(merged_ranks(softmax(x, 1)), (std::vector<int>{3, 1, 3}));
  EXPECT_EQ(merged_ranks(softmax(x, 3)), (std::vector<int>{2, 1, 2}));
  EXPECT_EQ(merged_ranks(running(Function::sum, x, 1)), (std::vector<int>{3, 1, 3}));
  EXPECT_EQ(merged_ranks(running(Function::sum, x, 3)), (std::vector<int>{2, 1, 2}));
  EXPECT_EQ(merged_ranks(formula::sum_all(x)), (std::vector<int>{1, 1, 0}));
  EXPECT_EQ(merged_ranks(formula::permuted(x, {0, 2, 3, 1})), (std::vector<int>{3, 1, 3}));
  EXPECT_EQ(merged_ranks(formula::permuted(x, {3, 2, 1, 0})), (std::vector<int>{4, 1, 4}));
}

}  // namespace
}  // namespace saltern
