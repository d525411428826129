#pragma once
// Complex numbers as pairs: a tensor of real ones whose last dimension holds real and imaginary part. So they have the
// element types, kernels and gradients that real numbers have; the gradient of a pair is PyTorch's of a complex number. In
// Python a ComplexTensor hides the last dimension.

#include "runtime/autograd/variable.h"

namespace saltern::complex {

Variable pairs(const Variable &real, const Variable &imaginary);
Variable real(const Variable &z);
Variable imaginary(const Variable &z);
Variable conjugate(const Variable &z);
Variable product(const Variable &a, const Variable &b);
Variable quotient(const Variable &a, const Variable &b);

}  // namespace saltern::complex
