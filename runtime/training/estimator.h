#pragma once
// Nets with the face of scikit-learn's estimators, for tables of numbers:
//
//   Classifier digits({{64, 32}});                 // two hidden layers; or a net of one's own
//   digits.fit(x, labels).score(x2, labels2);      // x: f32 (samples, features); labels: integers of any kind (samples)
//   Regressor prices;
//   prices.fit(x, y).predict(x2);                  // y: f32 (samples) or (samples, outputs)

#include <memory>

#include "runtime/training/trainer.h"

namespace saltern {

struct EstimatorOptions {
  std::vector<int64_t> hidden = {64};
  int64_t epochs = 50, batch = 32;
  double rate = 1e-2;
  uint64_t seed = 0;                      // the same seed, the same bits
  std::shared_ptr<Module> net = nullptr;  // in the place of one with hidden layers
};

class Estimator {
 public:
  const History &history() const { return trainer().history(); }
  Module &net() const { return *net_; }

 protected:
  explicit Estimator(EstimatorOptions options) : options_(std::move(options)) {}
  void train(const Tensor &x, const Tensor &target, int64_t outputs, const Loss &loss);
  // What the net says of these samples.
  Tensor outputs(const Tensor &x) const;

 private:
  Trainer &trainer() const;

  EstimatorOptions options_;
  std::shared_ptr<Module> net_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<Trainer> trainer_;
};

class Classifier : public Estimator {
 public:
  explicit Classifier(EstimatorOptions options = {}) : Estimator(std::move(options)) {}

  Classifier &fit(const Tensor &x, const Tensor &labels);
  // Labels as fit() was given them, i64 (samples).
  Tensor predict(const Tensor &x) const;
  // (samples, classes), in the order of classes().
  Tensor predict_proba(const Tensor &x) const;
  // The part that is right.
  double score(const Tensor &x, const Tensor &labels) const;
  // The labels that there are, in ascending order.
  const std::vector<int64_t> &classes() const { return classes_; }

 private:
  std::vector<int64_t> classes_;
};

class Regressor : public Estimator {
 public:
  explicit Regressor(EstimatorOptions options = {}) : Estimator(std::move(options)) {}

  Regressor &fit(const Tensor &x, const Tensor &y);
  Tensor predict(const Tensor &x) const;
  // R squared: the part of the variance that is explained, the mean over outputs.
  double score(const Tensor &x, const Tensor &y) const;

 private:
  Shape shape_;  // of one sample's target
};

}  // namespace saltern
