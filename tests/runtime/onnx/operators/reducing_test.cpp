// Reductions of nothing, of extremes, running sums, and ranks.

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/formula/evaluate.h"
#include "tests/run_operator.h"

namespace saltern {
namespace {

Tensor axes(const std::vector<int64_t> &a) { return Tensor::of<int64_t>({static_cast<int64_t>(a.size())}, a); }

TEST(Reduce, OfNothingIsNeutral) {
  const struct {
    const char *name;
    float wanted;
  } rows[] = {{"ReduceSum", 0},      {"ReduceProd", 1}, {"ReduceMax", -INFINITY},    {"ReduceMin", INFINITY},
              {"ReduceL1", 0},       {"ReduceL2", 0},   {"ReduceLogSum", -INFINITY}, {"ReduceLogSumExp", -INFINITY},
              {"ReduceSumSquare", 0}};
  for (const auto &row : rows) {
    const OperatorCall c = {row.name, {Tensor::zeros({2, 0}), axes({1})}, {{"keepdims", int64_t{0}}}};
    EXPECT_EQ(values_of<float>(c.lowered()[0]), (std::vector<float>{row.wanted, row.wanted})) << row.name;
  }
}

TEST(Reduce, WithoutAxesStillDoesTheRest) {
  const OperatorCall c = {"ReduceSumSquare", {numbers({2}, {3, -4}), axes({})}, {{"noop_with_empty_axes", int64_t{1}}}};
  EXPECT_EQ(values_of<float>(c.lowered()[0]), (std::vector<float>{9, 16}));
}

TEST(Reduce, TakesAxesAsAttributesInOldFiles) {
  const OperatorCall c = {
      "ReduceMean", {numbers({2, 2}, {-1, -2, 3, 8}, Type::i32)}, {{"axes", std::vector<int64_t>{-1}}}, 1, 11};
  EXPECT_EQ(values_of<int32_t>(c.lowered()[0]), (std::vector<int32_t>{-1, 5}));
}

TEST(ReduceLogSumExp, DoesNotOverflow) {
  const Tensor x = numbers({3, 2}, {1000, 1000, -INFINITY, -INFINITY, INFINITY, 1});
  const auto y = values_of<float>(OperatorCall{"ReduceLogSumExp", {x, axes({1})}}.lowered()[0]);
  EXPECT_NEAR(y[0], 1000 + std::log(2.0), 1e-3);
  EXPECT_EQ(y[1], -INFINITY);
  EXPECT_EQ(y[2], INFINITY);
}

TEST(CumSum, GoesEachWayWithAndWithoutItsOwnElement) {
  const Tensor x = numbers({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), axis = Tensor::of<int64_t>({}, {-2});
  const auto sums = [&](int64_t exclusive, int64_t reverse) {
    const OperatorCall c = {"CumSum", {x, axis}, {{"exclusive", exclusive}, {"reverse", reverse}}};
    return values_of<float>(c.lowered()[0]);
  };
  EXPECT_EQ(sums(0, 0), (std::vector<float>{1, 2, 4, 6, 9, 12, 7, 8, 16, 18, 27, 30}));
  EXPECT_EQ(sums(1, 0), (std::vector<float>{0, 0, 1, 2, 4, 6, 0, 0, 7, 8, 16, 18}));
  EXPECT_EQ(sums(0, 1), (std::vector<float>{9, 12, 8, 10, 5, 6, 27, 30, 20, 22, 11, 12}));
  EXPECT_EQ(sums(1, 1), (std::vector<float>{8, 10, 5, 6, 0, 0, 20, 22, 11, 12, 0, 0}));
}

// Some steps an element; a formula that looks at all elements before each would take 10^10.
TEST(CumSum, TakesTimeThatGrowsWithItsLength) {
  const int64_t n = 100000;
  const Tensor x = Tensor::full({n}, 1, Type::i64);
  const StepBudget budget(40.0 * n);
  const auto y = values_of<int64_t>(OperatorCall{"CumSum", {x, Tensor::of<int64_t>({}, {0})}}.lowered()[0]);
  EXPECT_EQ(y.back(), n);
}

TEST(TopK, FormulaAndHostAgreeOnTiesAndNaN) {
  const Tensor x = numbers({2, 5}, {3, NAN, 3, -1, 7, 0, 0, NAN, NAN, 2}), k = Tensor::of<int64_t>({1}, {4});
  for (int64_t largest : {0, 1}) {
    const OperatorCall c = {"TopK", {x, k}, {{"largest", largest}}, 2};
    EXPECT_EQ(values_of<int64_t>(c.on_host()[1]), values_of<int64_t>(c.lowered()[1])) << largest;
  }
  const OperatorCall c = {"TopK", {x, k}, {}, 2};
  EXPECT_EQ(values_of<int64_t>(c.on_host()[1]), (std::vector<int64_t>{1, 4, 0, 2, 2, 3, 4, 0}));
}

TEST(Unique, KeepsTheOrderOfFirstPlaces) {
  const Tensor x = Tensor::of<std::string>({5}, {"b", "a", "b", "c", "a"});
  const auto y = OperatorCall{"Unique", {x}, {{"sorted", int64_t{0}}}, 4}.on_host();
  EXPECT_EQ(values_of<std::string>(y[0]), (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(values_of<int64_t>(y[1]), (std::vector<int64_t>{0, 1, 3}));
  EXPECT_EQ(values_of<int64_t>(y[2]), (std::vector<int64_t>{0, 1, 0, 2, 1}));
  EXPECT_EQ(values_of<int64_t>(y[3]), (std::vector<int64_t>{2, 2, 1}));
}

}  // namespace
}  // namespace saltern
