#pragma once
// Elementwise functions of one tensor: y = f(x).

#include "runtime/layers/binary.h"

namespace saltern {

Variable negate(const Variable &x);
Variable absolute(const Variable &x);
Variable reciprocal(const Variable &x);
Variable square(const Variable &x);
Variable sqrt(const Variable &x);
Variable exp(const Variable &x);
Variable log(const Variable &x);
Variable sine(const Variable &x);
Variable cosine(const Variable &x);
Variable erf(const Variable &x);
Variable relu(const Variable &x);
Variable leaky_relu(const Variable &x);
Variable sigmoid(const Variable &x);
Variable tanh(const Variable &x);
// x Phi(x), with the normal distribution's Phi: the exact form, not the tanh approximation
Variable gelu(const Variable &x);
Variable silu(const Variable &x);

}  // namespace saltern
