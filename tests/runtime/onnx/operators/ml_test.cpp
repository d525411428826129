// Classical models (ai.onnx.ml): texts as labels, missing features, sets.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/run_operator.h"

namespace saltern {
namespace {

using Integers = std::vector<int64_t>;
using Texts = std::vector<std::string>;

OperatorCall model(const std::string &name, std::vector<HostValue> inputs, Attributes attributes, size_t outputs = 1) {
  return {name, std::move(inputs), std::move(attributes), outputs, 5, "ai.onnx.ml"};
}

// x <= 1 ? 10 : (x <= 2 ? 20 : 30), with NaN to the side that `missing` says.
Attributes steps(int64_t missing) {
  return {{"nodes_treeids", Integers{0, 0, 0, 0, 0}},
          {"nodes_nodeids", Integers{0, 1, 2, 3, 4}},
          {"nodes_featureids", Integers{0, 0, 0, 0, 0}},
          {"nodes_values", std::vector<double>{1, 0, 2, 0, 0}},
          {"nodes_modes", Texts{"BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"}},
          {"nodes_truenodeids", Integers{1, 0, 3, 0, 0}},
          {"nodes_falsenodeids", Integers{2, 0, 4, 0, 0}},
          {"nodes_missing_value_tracks_true", Integers{missing, 0, missing, 0, 0}},
          {"target_treeids", Integers{0, 0, 0}},
          {"target_nodeids", Integers{1, 3, 4}},
          {"target_ids", Integers{0, 0, 0}},
          {"target_weights", std::vector<double>{10, 20, 30}},
          {"n_targets", int64_t{1}}};
}

TEST(TreeEnsembleRegressor, LeavesOfAllDepthsAndMissingFeatures) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = numbers({4, 1}, {1, 1.5, 7, nan});
  EXPECT_EQ(values_of<float>(model("TreeEnsembleRegressor", {x}, steps(0)).lowered()[0]),
            (std::vector<float>{10, 20, 30, 30}));
  EXPECT_EQ(values_of<float>(model("TreeEnsembleRegressor", {x}, steps(1)).lowered()[0]),
            (std::vector<float>{10, 20, 30, 10}));
}

TEST(TreeEnsembleRegressor, RefusesATreeThatLeadsBack) {
  const Attributes circle = steps(0).with("nodes_falsenodeids", Integers{2, 0, 0, 0, 0});
  EXPECT_THROW(model("TreeEnsembleRegressor", {numbers({1, 1}, {1})}, circle).lowered(), Error);
}

TEST(LinearClassifier, LabelsMayBeTexts) {
  const OperatorCall call = model("LinearClassifier", {numbers({2, 2}, {1, 0, 0, 1})},
                                  {{"coefficients", std::vector<double>{1, 0, 0, 1}},
                                   {"intercepts", std::vector<double>{0, 0}},
                                   {"classlabels_strings", Texts{"cat", "dog"}}},
                                  2);
  EXPECT_EQ(values_of<std::string>(call.on_host()[0]), (Texts{"cat", "dog"}));
  EXPECT_THROW(call.lowered(), Unsupported);
}

// With two classes the probability is that of their only pair.
TEST(SvmClassifier, ProbabilitiesOfTwoClassesAreThoseOfThePair) {
  const OperatorCall call = model("SVMClassifier", {numbers({1, 1}, {2})},
                                  {{"coefficients", std::vector<double>{1, -1}},
                                   {"support_vectors", std::vector<double>{1, -1}},
                                   {"vectors_per_class", Integers{1, 1}},
                                   {"rho", std::vector<double>{0.5}},
                                   {"prob_a", std::vector<double>{-1}},
                                   {"prob_b", std::vector<double>{0.25}},
                                   {"classlabels_ints", Integers{4, 9}}},
                                  2);
  const std::vector<HostValue> results = call.on_host();
  const double first = 1 / (1 + std::exp(-(2 + 2 + 0.5) + 0.25));
  EXPECT_EQ(values_of<int64_t>(results[0])[0], 4);
  EXPECT_NEAR(values_of<float>(results[1])[0], first, 5e-3);  // the iteration stops at 0.005 / 2
  EXPECT_NEAR(values_of<float>(results[1])[0] + values_of<float>(results[1])[1], 1, 1e-6);
}

TEST(LabelEncoder, TheHostAndTheFormulaFindTheSame) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const OperatorCall call = model("LabelEncoder", {numbers({4}, {1, nan, 2, 3})},
                                  {{"keys_floats", std::vector<double>{1, nan, 2, 2}},
                                   {"values_int64s", Integers{5, 6, 7, 8}},
                                   {"default_int64", int64_t{-3}}});
  const Integers expected = {5, 6, 8, -3};
  EXPECT_EQ(values_of<int64_t>(call.on_host()[0]), expected);
  EXPECT_EQ(values_of<int64_t>(call.lowered()[0]), expected);
}

TEST(LabelEncoder, TextsAreLookedUpByTheirNumbers) {
  const Tensor x = Tensor::of<std::string>({2, 2}, {"b", "", "?", "a"});
  const auto call = [&](const Attributes &a) { return model("LabelEncoder", {x}, a).on_host()[0]; };
  EXPECT_EQ(values_of<std::string>(call({{"keys_strings", Texts{"a", "b", "", "a"}},
                                         {"values_strings", Texts{"x", "y", "z", "w"}},
                                         {"default_string", std::string("none")}})),
            (Texts{"y", "z", "none", "w"}));
  EXPECT_EQ(values_of<float>(call({{"keys_strings", Texts{"a"}}, {"values_floats", std::vector<double>{1.5}}})),
            (std::vector<float>{-0.0F, -0.0F, -0.0F, 1.5F}));
  EXPECT_EQ(values_of<int64_t>(call({{"keys_strings", Texts{}}, {"values_int64s", Integers{}}})),
            (Integers{-1, -1, -1, -1}));
  EXPECT_THROW(call({{"keys_int64s", Integers{1}}, {"values_int64s", Integers{1}}}), Error);
}

TEST(LabelEncoder, KeysOfAnotherWidthAreComparedAsTheWider) {
  const OperatorCall call = model("LabelEncoder", {numbers({2}, {0.5, 0.1}, Type::f64)},
                                  {{"keys_floats", std::vector<double>{0.5, 0.1}}, {"values_int64s", Integers{5, 6}}});
  EXPECT_EQ(values_of<int64_t>(call.lowered()[0]), (Integers{5, -1}));  // 0.1 is no f32
}

TEST(CategoryMapper, GoesBothWays) {
  const Attributes a = {{"cats_int64s", Integers{4, 9}}, {"cats_strings", Texts{"cat", "dog"}}};
  const Tensor texts = Tensor::of<std::string>({2}, {"dog", "cow"}), whole = Tensor::of<int64_t>({2}, {4, 5});
  EXPECT_EQ(values_of<int64_t>(model("CategoryMapper", {texts}, a).on_host()[0]), (Integers{9, -1}));
  EXPECT_EQ(values_of<std::string>(model("CategoryMapper", {whole}, a).on_host()[0]), (Texts{"cat", "_Unused"}));
}

TEST(ArrayFeatureExtractor, TakesTextsAsItTakesNumbers) {
  const Tensor x = Tensor::of<std::string>({2, 3}, {"a", "b", "c", "d", "e", "f"});
  const auto call = [&](const Integers &which) {
    return model("ArrayFeatureExtractor", {x, Tensor::of<int64_t>({2}, which)}, {}).on_host()[0];
  };
  EXPECT_EQ(values_of<std::string>(call({2, 0})), (Texts{"c", "a", "f", "d"}));
  EXPECT_THROW(call({0, 3}), Error);
}

}  // namespace
}  // namespace saltern
