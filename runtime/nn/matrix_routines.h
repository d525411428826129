#pragma once
// Routines on matrices, by Eigen, which only matrix_routines.cpp includes: header only, so that neither an installed library
// nor a wheel has anything to link, as it would have with LAPACK.
//
// Tensors are (..., m, n) of f32 or f64, each matrix computed for itself; of outlines come outlines. What cannot be computed
// is an Error that begins with `who` and says which matrix of the batch it is.

#include <array>
#include <string>

#include "runtime/tensor/tensor.h"

namespace saltern::matrices {

// Triangles that are not read may hold anything.
struct Triangle {
  bool upper = false;
  bool unit = false;  // the diagonal is taken to be of ones
};

// L with A = L L^T; of A the lower triangle is read.
Tensor cholesky(const Tensor &a, const std::string &who);
// X with A X = B; the batches are equal.
Tensor solved(const Tensor &a, const Tensor &b, const std::string &who);
Tensor solved(const Tensor &a, const Tensor &b, Triangle triangle, const std::string &who);
Tensor inverse(const Tensor &a, const std::string &who);
// The sign (..), and the logarithm of the absolute value: 0 and -infinity of a singular matrix.
std::array<Tensor, 2> signed_log_determinant(const Tensor &a, const std::string &who);
Tensor determinant(const Tensor &a, const std::string &who);
// det(A) A^-T, of singular matrices too.
Tensor cofactors(const Tensor &a, const std::string &who);
// w(.., n) ascending and V with A V = V diag(w); of A the lower triangle is read.
std::array<Tensor, 2> eigh(const Tensor &a, const std::string &who);
// U, s descending, V^T with A = U diag(s) V^T; U and V^T are square where they are asked for whole.
std::array<Tensor, 3> svd(const Tensor &a, bool whole, const std::string &who);
// Q and R; Q is (m, min(m, n)), or whole (m, m).
std::array<Tensor, 2> qr(const Tensor &a, bool whole, const std::string &who);
// Singular values up to max(absolute, relative * the largest one) count as 0.
Tensor pseudo_inverse(const Tensor &a, double absolute, double relative, const std::string &who);
Tensor exponential(const Tensor &a, const std::string &who);

}  // namespace saltern::matrices
