#pragma once
// y = scale(c) (x - mean(c)) / sqrt(variance(c) + epsilon) + shift(c), with c dimension 1 of x (N, C) or (N, C, H, W).
//   batch_norm           x, mean, variance, scale, shift -> y; statistics are given (evaluation)
//   batch_norm_training  x, scale, shift -> y, mean, variance (biased), both of this batch
// Attribute: epsilon.

#include "runtime/layers/module.h"

namespace saltern {

class BatchNorm : public Module {
 public:
  Variable weight, bias;

  explicit BatchNorm(int64_t channels, double epsilon = 1e-5, double momentum = 0.1);
  Variable forward(const Variable &x) override;
  void visit(Visitor &v) override {
    v.parameter("weight", weight);
    v.parameter("bias", bias);
    v.buffer("running_mean", mean_);
    v.buffer("running_var", variance_);
    v.buffer("num_batches_tracked", batches_);
  }

 private:
  double epsilon_, momentum_;
  Tensor mean_, variance_, batches_;
};

using BatchNorm1d = BatchNorm;
using BatchNorm2d = BatchNorm;

}  // namespace saltern
