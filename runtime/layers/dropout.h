#pragma once
// In training, each element is zero with probability p and x / (1 - p) otherwise; in evaluation, x as it is.
//
// The operation "dropout": (x, {seed, offset}) -> y; attribute probability. Which elements stay is a hash of (seed,
// offset + i): the gradient draws the same ones again instead of storing them.

#include "runtime/layers/module.h"
#include "runtime/tensor/random.h"

namespace saltern {

class Dropout : public Module {
 public:
  explicit Dropout(Random &random, double probability = 0.5);
  Variable forward(const Variable &x) override;
  // Seed and position of its random numbers are state, so that training resumes with the same bits.
  void visit(Visitor &v) override { v.buffer("random", random_); }

 private:
  double probability_;
  Tensor random_;
};

}  // namespace saltern
