// What all metrics have in common: batches add up, parts merge, state goes on, and what does not fit is named.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "runtime/metrics/metric.h"
#include "runtime/training/row_metric.h"
#include "tests/errors.h"

namespace saltern::metrics {
namespace {

Tensor reals(const Shape &shape, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<float> all(static_cast<size_t>(elements(shape)));
  for (float &x : all) x = std::uniform_real_distribution<float>(0, 1)(random);
  return Tensor::of<float>(shape, all);
}
Tensor classes(const Shape &shape, int count, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<int64_t> all(static_cast<size_t>(elements(shape)));
  for (int64_t &x : all) x = std::uniform_int_distribution<int64_t>(0, count - 1)(random);
  return Tensor::of<int64_t>(shape, all);
}

TEST(Metrics, CountOverBatches) {
  Metric accuracy = metric("accuracy", {{"task", "multiclass"}, {"num_classes", 3}});
  EXPECT_EQ(accuracy.name(), "MulticlassAccuracy");
  EXPECT_TRUE(std::isnan(accuracy.value()));
  accuracy.update({Tensor::of<int64_t>({3}, {0, 1, 2}), Tensor::of<int64_t>({3}, {0, 1, 1})});
  EXPECT_DOUBLE_EQ(accuracy.value(), 2.0 / 3);
  const Argument batch = accuracy.step({Tensor::of<int64_t>({1}, {2}), Tensor::of<int64_t>({1}, {2})});
  EXPECT_DOUBLE_EQ(variable_of(batch).value().item(), 1);
  EXPECT_DOUBLE_EQ(accuracy.value(), 3.0 / 4);
  accuracy.reset();
  EXPECT_FALSE(accuracy.is_updated());
}

// Sums, lists, extremes and moments: what two parts have seen is what one that saw all has.
TEST(Metrics, PartsMergeAndStateGoesOn) {
  const auto batches = [](int seed) -> std::vector<Argument> { return {reals({7}, seed), reals({7}, seed + 1)}; };
  for (const auto &[name, options] :
       std::vector<std::pair<const char *, Named>>{{"MeanSquaredError", {}},
                                                   {"PearsonCorrCoef", {}},
                                                   {"R2Score", {}},
                                                   {"SpearmanCorrCoef", {}},
                                                   {"NormalizedRootMeanSquaredError", {{"normalization", "range"}}}}) {
    Metric all = metric(name, options), first = all, second = all;
    for (int i = 0; i < 4; ++i) {
      all.update(batches(10 * i));
      (i < 2 ? first : second).update(batches(10 * i));
    }
    Metric other = metric(name, options);
    other.set_state(second.state());
    EXPECT_DOUBLE_EQ(other.value(), second.value()) << name;
    first.merge(other);
    EXPECT_NEAR(first.value(), all.value(), 1e-12) << name;
  }
}

TEST(Metrics, MomentsDoNotCancel) {
  Metric correlation = metric("pearson_corrcoef");
  const Tensor x = Tensor::of<double>({4}, {1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4});
  correlation.update(x, x);
  EXPECT_NEAR(correlation.value(), 1, 1e-9);
}

TEST(Metrics, SamplesThatNobodyHasAreNoCrash) {
  const Tensor none = Tensor::empty({0}), no_class = Tensor::empty({0}, Type::i64);
  EXPECT_TRUE(std::isnan([&] {
    Metric m = metric("MeanAbsoluteError");
    m.update({none, none});
    return m.value();
  }()));
  Metric m = metric("BinaryAUROC");
  m.update({none, no_class});
  EXPECT_DOUBLE_EQ(m.value(), 0);
}

TEST(Metrics, WhatDoesNotFitIsNamed) {
  Metric accuracy = metric("Accuracy", {{"task", "multiclass"}, {"num_classes", 3}});
  expect_error(
      [&] {
        accuracy.update({classes({4}, 3, 1), Tensor::of<int64_t>({4}, {0, 1, 2, 3})});
      },
      {"MulticlassAccuracy", "'target'", "0 to 2"});
  expect_error(
      [&] {
        accuracy.update({reals({4, 2}, 1), classes({4}, 2, 2)});
      },
      {"MulticlassAccuracy", "'preds'", "3 scores"});
  expect_error([&] { accuracy.update({classes({4}, 3, 1), classes({5}, 3, 2)}); }, {"'target'", "[4]"});
  expect_error([] { metric("Accuracy", {{"task", "several"}}); }, {"Accuracy", "'task'", "'binary'"});
  expect_error([] { metric("MeanSquaredError", {{"square", true}}); }, {"MeanSquaredError", "'square'"});
  expect_error([] { metric("no_such_metric"); }, {"no_such_metric"});
  expect_error([&] { accuracy.merge(metric("MeanSquaredError")); }, {"MulticlassAccuracy", "MeanSquaredError"});
  expect_error([&] { accuracy.set_state({{"tp", reals({1}, 1)}}); }, {"'tp'"});
}

TEST(Metrics, KerasHasItsOwn) {
  Metric auc = metric("keras.AUC");
  auc.update({Tensor::of<float>({4}, {0, 0, 1, 1}), Tensor::of<float>({4}, {0, 0.5, 0.3, 0.9})});
  EXPECT_NEAR(auc.value(), 0.75, 1e-6);
}

// The cheapest of all orders, by trying them.
TEST(Metrics, AssignmentIsTheBest) {
  for (int seed = 0; seed < 20; ++seed) {
    const size_t side = 5;
    const std::vector<double> costs = reals({25}, seed).reals();
    const auto cost = [&](const std::vector<size_t> &columns) {
      double all = 0;
      for (size_t r = 0; r < side; ++r) all += costs[r * side + columns[r]];
      return all;
    };
    std::vector<size_t> order = {0, 1, 2, 3, 4};
    double least = cost(order);
    while (std::next_permutation(order.begin(), order.end())) least = std::min(least, cost(order));
    EXPECT_NEAR(cost(assigned(costs, side)), least, 1e-12);
  }
}

TEST(Metrics, TrainersTakeRows) {
  const auto made = [] {
    return row_metric("f1", metric("F1Score", {{"task", "multiclass"}, {"num_classes", 3}, {"average", "macro"}}));
  };
  const Tensor scores = Tensor::of<float>({4, 3}, {5, 1, 1, 1, 5, 1, 1, 5, 1, 1, 1, 5});
  const Tensor labels = Tensor::of<int32_t>({4}, {0, 1, 2, 2});
  const auto one = made(), other = made();
  one->update(scores.slice(0, 0, 2), labels.slice(0, 0, 2));
  other->load_state(one->state());
  other->update(scores.slice(0, 2, 2), labels.slice(0, 2, 2));
  EXPECT_EQ(other->name(), "f1");
  EXPECT_NEAR(other->value(), (1.0 + 2.0 / 3 + 2.0 / 3) / 3, 1e-12);
  other->load_state({});
  other->update(scores.slice(0, 2, 1), labels.slice(0, 2, 1));
  EXPECT_EQ(other->value(), 0);
}

}  // namespace
}  // namespace saltern::metrics
