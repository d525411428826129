#pragma once
// Normalisation of each row, where a row is all dimensions from `axis` on; scale and shift have its shape.
//   layer_norm  x, scale, shift -> y = scale (x - mean) / sqrt(variance + epsilon) + shift
//   rms_norm    x, scale        -> y = scale x / sqrt(mean of x^2 + epsilon)
// Attributes: axis, epsilon.

#include "runtime/layers/module.h"

namespace saltern {

// Over the last dimensions, which have this shape.
class LayerNorm : public Module {
 public:
  Variable weight, bias;

  explicit LayerNorm(const Shape &shape, double epsilon = 1e-5)
      : weight(Tensor::full(shape, 1), true), bias(Tensor::zeros(shape), true), epsilon_(epsilon) {}

  Variable forward(const Variable &x) override;
  void visit(Visitor &v) override {
    v.parameter("weight", weight);
    v.parameter("bias", bias);
  }

 private:
  double epsilon_;
};

class RMSNorm : public Module {
 public:
  Variable weight;

  explicit RMSNorm(const Shape &shape, double epsilon = 1e-6)
      : weight(Tensor::full(shape, 1), true), epsilon_(epsilon) {}

  Variable forward(const Variable &x) override;
  void visit(Visitor &v) override { v.parameter("weight", weight); }

 private:
  double epsilon_;
};

}  // namespace saltern
