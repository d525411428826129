#pragma once
// y(n, o) = b(o) + sum over i of w(o, i) x(n, i)
//
// The operation "dense": x (N, I), w (O, I), b (O), which may be left out -> y (N, O).

#include "runtime/autograd/variable.h"

namespace saltern {

// x may have more dimensions than two; the last is I.
Variable linear(const Variable &x, const Variable &w, const Variable &b = {});

}  // namespace saltern
