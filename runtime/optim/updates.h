#pragma once
// Updates of parameters as operations, one for each row of rows.h: formulas (algorithms/optimizers.h) say them, and kernels
// compute most of them:
//
//   (p, gradient, rate, steps, slots...) -> p', steps', slots'...
//
// Attributes are the options of the row, with its defaults. The rate (f32) and the number of steps that were taken (i64)
// are of rank 0; so are some slots.

#include <string>
#include <vector>

#include "runtime/autograd/variable.h"
#include "runtime/optim/rows.h"

namespace saltern {

// How an optimizer updates each of its parameters: a row's operation, or one's own.
struct Update {
  std::string operation;
  Attributes attributes;
  std::vector<std::string> slots;  // of one's own operation; they begin as zeros, of the parameter's shape
  double rate;
  std::string rate_name = "rate";  // that of its state in graphs
};

// That of a row with these options, the rate among them or not. Throws where there is no such row or option.
Update update_of(const std::string &optimizer, const Attributes &options = {});

// What an update keeps for a parameter, as it begins.
std::vector<std::pair<std::string, Tensor>> slots_of(const Update &update, const Tensor &parameter);

// Computes the update of what an operation takes, and writes it over p, steps and slots.
void update_in_place(const Update &update, const std::vector<Tensor> &inputs);
// Likewise given the gradient as a Variable. Where that is sparse (runtime/autograd/sparse.h), and the update is none where
// it is 0, or is of touched rows only (SparseAdam), its rows alone are updated.
void update_in_place(const Update &update, const Variable &gradient, std::vector<Tensor> inputs);

}  // namespace saltern
