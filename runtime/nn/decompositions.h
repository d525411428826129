#pragma once
// Linear algebra on batches of matrices (..., m, n), of f32 or f64, with gradients of any order: rules are written with
// these functions themselves.
//
//   Variable l = linalg::cholesky(a), x = linalg::solve(a, b);
//
// By PyTorch's names and with its arguments: nn::call("linalg.solve", {a, b}) (linear_algebra.cpp).

#include <array>

#include "runtime/autograd/variable.h"

namespace saltern::linalg {

// The lower L with A = L L^T. A is taken to be symmetric: its lower triangle is read.
Variable cholesky(const Variable &a);
// X with A X = B; batches broadcast.
Variable solve(const Variable &a, const Variable &b);
// The same where A is a triangle, or read as one; with `unit`, of a diagonal of ones.
Variable solve_triangular(const Variable &a, const Variable &b, bool upper, bool unit = false);
Variable inv(const Variable &a);
Variable det(const Variable &a);
// The sign, and the logarithm of the absolute value.
std::array<Variable, 2> slogdet(const Variable &a);
// Eigenvalues in ascending order, and eigenvectors as columns. A is taken to be symmetric.
std::array<Variable, 2> eigh(const Variable &a);
// U, S in descending order, V^T; with `whole`, U and V^T are square, and of their gradient the first min(m, n) count.
std::array<Variable, 3> svd(const Variable &a, bool whole = false);
// Q and R; with `whole`, Q is square, and has no gradient where m > n.
std::array<Variable, 2> qr(const Variable &a, bool whole = false);
// Singular values up to max(absolute, relative * the largest) count as 0; a negative `relative`: what rounding leaves.
Variable pinv(const Variable &a, double absolute = 0, double relative = -1);
Variable matrix_exp(const Variable &a);

}  // namespace saltern::linalg
