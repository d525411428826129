#pragma once
// Random numbers beside tensors: anew at each call (runtime/layers/random_stream.h).

#include "runtime/nn/function.h"

namespace saltern::nn {

// An argument between 0 and 1.
double probability(const Arguments &a, const char *name = "p");
// x without elements that are left out with this probability; the others are made larger so that the mean stays.
Variable dropped(const Arguments &a, const Variable &x, double p);

// ---- In formulas, one number for each element of x; random(2) is a stream's seed and position.

// In [0, 1).
Value uniform_beside(const Value &x, const Value &random);
// Of mean 0 and variance 1; each takes two numbers of the stream.
Value normal_beside(const Value &x, const Value &random);

}  // namespace saltern::nn
