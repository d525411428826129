// Norms of vectors and matrices, and what singular values say, as torch.linalg has them.

#include <cmath>
#include <limits>

#include "runtime/layers/binary.h"
#include "runtime/nn/axes.h"
#include "runtime/nn/decompositions.h"
#include "runtime/nn/families.h"
#include "runtime/nn/types.h"

namespace saltern::nn {

namespace {

Variable reduced(const char *function, const Variable &x, const Argument &axes, bool keep = false) {
  return variable_of(call(function, {x, axes, keep}));
}

Variable typed(const Arguments &a, const char *name) {
  const Variable x = a.variable(name);
  return a.has("dtype") ? to_type(x, type_named(a.word("dtype"))) : x;
}

// How many are not 0, for an order of 0.
Variable norm_of_vectors(const Variable &x, double order, const Argument &axes, bool keep) {
  if (order != 0) return variable_of(call("norm", {x, order, axes, keep}));
  return reduced("sum", to_type(variable_of(call("ne", {x, 0})), x.type()), axes, keep);
}

const Function vector_norm("linalg.vector_norm", "x, ord=2, dim=None, keepdim=False, *, dtype=None",
                           [](const Arguments &a) {
                             return norm_of_vectors(typed(a, "x"), a.real("ord"), a["dim"], a.flag("keepdim"));
                           });

// Of the last two dimensions: by sums of rows or columns, or by singular values.
Variable norm_of_matrices(const Arguments &a, const Variable &x, const Argument &order) {
  const Variable size = variable_of(call("abs", {x}));
  if (const auto *word = order.as<std::string>()) {
    if (*word == "fro") return norm_of_vectors(x, 2, {-2, -1}, false);
    if (*word == "nuc") return reduced("sum", linalg::svd(x)[1], -1);
    a.refuse("ord", "a number, 'fro' or 'nuc'");
  }
  const double p = a.real("ord");
  const char *best = p > 0 ? "amax" : "amin";
  if (std::abs(p) == 2) return reduced(best, linalg::svd(x)[1], -1);
  if (std::abs(p) == 1) return reduced(best, reduced("sum", size, -2), -1);
  if (std::isinf(p)) return reduced(best, reduced("sum", size, -1), -1);
  a.refuse("ord", "1, 2, infinity, one of them negative, 'fro' or 'nuc'");
}

Variable matrix_norm_of(const Arguments &a, const Variable &x, const Argument &order,
                        const std::vector<int64_t> &dims) {
  const int rank = x.rank();
  if (dims.size() != 2 || rank < 2) a.refuse("dim", "two dimensions of matrices");
  const int64_t row = dimension(dims[0], rank, a.owner()), column = dimension(dims[1], rank, a.owner());
  if (row == column) a.refuse("dim", "two dimensions that are not the same");
  std::vector<int64_t> places;
  Shape kept = x.shape();
  for (int64_t d = 0; d < rank; ++d)
    if (d != row && d != column) places.push_back(d);
  places.insert(places.end(), {row, column});
  kept[static_cast<size_t>(row)] = kept[static_cast<size_t>(column)] = 1;
  const Variable y = norm_of_matrices(a, transpose(x, places), order);
  return a.flag("keepdim") ? reshape(y, kept) : y;
}

const Function matrix_norm("linalg.matrix_norm", "A, ord='fro', dim=(-2,-1), keepdim=False, *, dtype=None",
                           [](const Arguments &a) {
                             return matrix_norm_of(a, typed(a, "A"), a["ord"], a.integers("dim"));
                           });

// Without an order and dimensions, of all elements.
const Function norm_of("linalg.norm", "A, ord=None, dim=None, keepdim=False, *, dtype=None", [](const Arguments &a) {
  const Variable x = typed(a, "A");
  const size_t rank = x.shape().size(), dims = a.has("dim") ? a.integers("dim").size() : 0;
  if (!a.has("ord")) return norm_of_vectors(x, 2, a["dim"], a.flag("keepdim"));
  if (dims == 2) return matrix_norm_of(a, x, a["ord"], a.integers("dim"));
  if (dims == 0 && rank == 2) return matrix_norm_of(a, x, a["ord"], {0, 1});
  if (dims == 0 && rank != 1) a.refuse("dim", "one or two dimensions beside an 'ord'");
  return norm_of_vectors(x, a.real("ord"), a["dim"], a.flag("keepdim"));
});

// By singular values, or by norms of the matrix and its inverse.
const Function cond("linalg.cond", "A, p=None", [](const Arguments &a) {
  const Variable x = a.variable("A");
  const auto is = [&](double p) { return !a["p"].as<std::string>() && a.real("p") == p; };
  if (!a.has("p") || is(2) || is(-2)) {
    const Variable s = linalg::svd(x)[1];
    const Variable most = reduced("amax", s, -1), least = reduced("amin", s, -1);
    return a.has("p") && is(-2) ? least / most : most / least;
  }
  const auto sized = [&](const Variable &m) { return variable_of(call("linalg.matrix_norm", {m, a["p"]})); };
  return sized(x) * sized(linalg::inv(x));
});

// How many singular values are more than what rounding leaves.
const Function matrix_rank(
    "linalg.matrix_rank", "A, tol=None, hermitian=False, *, atol=None, rtol=None", [](const Arguments &a) {
      const NoGradient guard;
      const Variable x = a.variable("A"), s = linalg::svd(x)[1];
      const Type type = x.type();
      const double epsilon =
          type == Type::f64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
      const char *absolute = a.has("tol") ? "tol" : "atol";
      const double least = a.has(absolute) ? a.real(absolute) : 0;
      const auto larger = static_cast<double>(std::max(x.shape().back(), x.shape()[x.shape().size() - 2]));
      const double relative = a.has("rtol") ? a.real("rtol") : a.has(absolute) ? 0 : epsilon * larger;
      if (s.shape().back() == 0) return reduced("sum", to_type(s, Type::i64), -1);
      const Variable bound = maximum(reduced("amax", s, -1, true) * relative, scalar(least, s));
      return reduced("sum", to_type(variable_of(call("gt", {s, bound})), Type::i64), -1);
    });

}  // namespace

const void *matrix_norms() { return &vector_norm; }

}  // namespace saltern::nn
