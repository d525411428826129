// Estimators on tables that they can learn, and the example of docs/training.md.

#include "runtime/training/estimator.h"

#include <gtest/gtest.h>

#include "runtime/nn/all.h"
#include "tests/errors.h"

namespace saltern {
namespace {

const Tensor x = Random(3).uniform_tensor({80, 3}, -1, 1);

// 30, 10 or 20, by the place of the largest number.
Tensor labels() {
  const Tensor all = Tensor::empty({80}, Type::i32);
  constexpr int32_t names[] = {30, 10, 20};
  for (int64_t n = 0; n < 80; ++n) {
    const float *row = x.data<float>() + 3 * n;
    all.data<int32_t>()[n] = names[std::max_element(row, row + 3) - row];
  }
  return all;
}

TEST(Classifier, LearnsLabelsOfAnyKind) {
  Classifier found;
  found.fit(x, labels());
  EXPECT_GT(found.score(x, labels()), 0.9);
  EXPECT_EQ(found.classes(), (std::vector<int64_t>{10, 20, 30}));
  const Tensor chances = found.predict_proba(x);
  const std::vector<int64_t> said = found.predict(x).integers();
  for (int64_t n = 0; n < 80; ++n) {
    const float *row = chances.data<float>() + 3 * n;
    EXPECT_NEAR(row[0] + row[1] + row[2], 1, 1e-5);
    EXPECT_EQ(said[static_cast<size_t>(n)], 10 * (1 + (std::max_element(row, row + 3) - row)));
  }
  Classifier again;
  EXPECT_EQ(again.fit(x, labels()).predict_proba(x).reals(), chances.reals());
}

TEST(Classifier, TakesANetOfOnesOwn) {
  EstimatorOptions options;
  options.epochs = 3;
  options.net = std::make_shared<Sequential>(nn::Linear(3, 3));
  Classifier found(options);
  found.fit(x, labels());
  EXPECT_EQ(&found.net(), options.net.get());
  EXPECT_LT(found.history().epochs.at("loss").back(), found.history().epochs.at("loss").front());
}

TEST(Regressor, LearnsAProduct) {
  const Tensor y = Tensor::empty({80}), both = Tensor::empty({80, 2});
  for (int64_t n = 0; n < 80; ++n) {
    y.data<float>()[n] = x.at<float>({n, 0}) * x.at<float>({n, 1});
    both.data<float>()[2 * n] = y.data<float>()[n];
    both.data<float>()[2 * n + 1] = 1 - y.data<float>()[n];
  }
  EstimatorOptions options;
  options.epochs = 150;
  Regressor found(options), pair(options);
  EXPECT_GT(found.fit(x, y).score(x, y), 0.8);
  EXPECT_EQ(found.predict(x).shape(), Shape{80});
  EXPECT_GT(pair.fit(x, both).score(x, both), 0.8);
  EXPECT_EQ(pair.predict(x).shape(), (Shape{80, 2}));
}

TEST(Estimators, BadInputIsNamed) {
  expect_error([] { Classifier().predict(x); }, {"not trained"});
  expect_error([] { Classifier().fit(Tensor::zeros({4}), Tensor::zeros({4}, Type::i32)); }, {"[4]", "features"});
  expect_error([] { Regressor().fit(x, labels()); }, {"i32[80]"});
  expect_error([] { Classifier().fit(x, Tensor::zeros({3}, Type::i32)); }, {"[80, 3]", "[3]"});
}

}  // namespace
}  // namespace saltern
