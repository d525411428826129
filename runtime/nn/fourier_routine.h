#pragma once
// Discrete Fourier transforms of complex numbers, whose real and imaginary part are the last dimension: (..., n, 2), of f32 or
// f64. By Eigen's transform, of sizes with small factors; others go by one of a power of two (Bluestein). Of n log n steps,
// in f64 whatever the type.

#include "runtime/tensor/tensor.h"

namespace saltern {

// y(k) = scale * sum over j of x(j) e^(-+ 2 pi i j k / n), along each of these dimensions; + for the inverse.
Tensor fourier_transform(const Tensor &x, const std::vector<int64_t> &dimensions, bool inverse, double scale);

}  // namespace saltern
