#pragma once
// y(n, o) = b(o) + sum over i of w(o, i) x(n, i)
//
// The operation "dense": x (N, I), w (O, I), b (O), which may be left out -> y (N, O).

#include "runtime/layers/module.h"
#include "runtime/tensor/random.h"

namespace saltern {

// x may have more dimensions than two; the last is I.
Variable linear(const Variable &x, const Variable &w, const Variable &b = {});

// PyTorch's default: uniform in +-1/sqrt(fan_in), for weights (Kaiming with a = sqrt(5)) and biases alike.
Variable default_parameter(Random &random, const Shape &shape, int64_t fan_in, Layout layout = Layout::row_major);

class Linear : public Module {
 public:
  Variable weight, bias;

  Linear(Random &random, int64_t inputs, int64_t outputs, bool with_bias = true);
  Variable forward(const Variable &x) override;
  void visit(Visitor &v) override {
    v.parameter("weight", weight);
    v.parameter("bias", bias);
  }
};

}  // namespace saltern
