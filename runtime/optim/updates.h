#pragma once
// Updates of parameters as operations, which formulas (algorithms/optimizers.h) say and kernels compute:
//
//   (p, gradient, rate, steps, slots...) -> p', steps', slots'...
//
//   sgd   slots: the velocity, or none; attributes: momentum, dampening, weight_decay, nesterov. The first step takes the
//         gradient as it is, without dampening, as PyTorch does.
//   adam  slots: mean and square; attributes: beta1, beta2, epsilon, weight_decay, decoupled (1: AdamW)
//
// The rate (f32) and the number of steps that were taken (i64) are of rank 0.

#include <string>
#include <vector>

#include "runtime/autograd/variable.h"

namespace saltern {

// How an optimizer updates each of its parameters.
struct Update {
  std::string operation;
  Attributes attributes;
  std::vector<std::string> slots;  // their names; they begin as zeros, of the parameter's shape
  double rate;
};

// Computes the update of what an operation takes, and writes it over p, steps and slots.
void update_in_place(const Update &update, const std::vector<Tensor> &inputs);
// Likewise given the gradient as a Variable. Where that is sparse (runtime/autograd/sparse.h), and the update is none where
// it is 0, or says only_touched (SparseAdam), its rows alone are updated.
void update_in_place(const Update &update, const Variable &gradient, std::vector<Tensor> inputs);

}  // namespace saltern
