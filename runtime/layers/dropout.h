#pragma once
// Each element is zero with probability p, less than 1, and x / (1 - p) otherwise.
//
// The operation "dropout": (x, {seed, offset}) -> y; attribute probability. Which elements stay is a hash of (seed,
// offset + i): the gradient draws the same ones again instead of storing them.

#include "runtime/autograd/variable.h"

namespace saltern {

// Drawn from random_stream() (runtime/layers/random_stream.h).
Variable dropout(const Variable &x, double probability, const std::string &who = "dropout");

}  // namespace saltern
