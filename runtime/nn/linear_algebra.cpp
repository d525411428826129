// Linear algebra with the names and arguments of torch.linalg: functions of decompositions.h, and products of many.

#include <algorithm>
#include <limits>

#include "runtime/layers/binary.h"
#include "runtime/layers/matmul.h"
#include "runtime/nn/decompositions.h"
#include "runtime/nn/families.h"
#include "runtime/nn/types.h"
#include "runtime/tensor/strided.h"

namespace saltern::nn {

namespace {

Variable matrices_in(const Arguments &a, const char *name = "A") {
  const Variable x = a.variable(name);
  if (x.shape().size() < 2) a.refuse(name, "matrices (..., m, n)");
  return x;
}

Variable square_in(const Arguments &a) {
  const Variable x = matrices_in(a);
  if (x.shape().back() != x.shape()[x.shape().size() - 2]) a.refuse("A", "square matrices (..., n, n)");
  return x;
}

template <size_t N>
std::vector<Variable> listed(const std::array<Variable, N> &all) {
  return {all.begin(), all.end()};
}

const Function cholesky("linalg.cholesky", "A, *, upper=False", [](const Arguments &a) {
  const Variable x = square_in(a);
  return a.flag("upper") ? transposed(linalg::cholesky(transposed(x))) : linalg::cholesky(x);
});
const Function inv("linalg.inv", "A", [](const Arguments &a) { return linalg::inv(square_in(a)); });
const Function det("linalg.det", "A", [](const Arguments &a) { return linalg::det(square_in(a)); });
const Function slogdet("linalg.slogdet", "A", [](const Arguments &a) { return listed(linalg::slogdet(square_in(a))); });
const Function matrix_exp("linalg.matrix_exp", "A",
                          [](const Arguments &a) { return linalg::matrix_exp(square_in(a)); });

// ---- Equations.

const Function solve("linalg.solve", "A, B, *, left=True", [](const Arguments &a) {
  const Variable x = square_in(a), b = a.variable("B");
  const Shape rows(x.shape().begin(), x.shape().end() - 1);
  if (b.shape().size() == 1 || b.shape() == rows) {  // a vector for each matrix
    Shape column = b.shape();
    column.push_back(1);
    const Variable y =
        a.flag("left") ? linalg::solve(x, reshape(b, column)) : linalg::solve(transposed(x), reshape(b, column));
    return reshape(y, {y.shape().begin(), y.shape().end() - 1});
  }
  matrices_in(a, "B");
  return a.flag("left") ? linalg::solve(x, b) : transposed(linalg::solve(transposed(x), transposed(b)));
});
const Function solve_triangular("linalg.solve_triangular", "A, B, *, upper, left=True, unitriangular=False",
                                [](const Arguments &a) {
                                  const Variable x = square_in(a), b = matrices_in(a, "B");
                                  const bool upper = a.flag("upper"), unit = a.flag("unitriangular");
                                  return a.flag("left") ? linalg::solve_triangular(x, b, upper, unit)
                                                        : transposed(linalg::solve_triangular(
                                                              transposed(x), transposed(b), !upper, unit));
                                });

Variable pseudo_inverse(const Arguments &a, const Variable &x, const char *absolute, const char *relative) {
  const bool has_absolute = absolute && a.has(absolute);
  const double least = has_absolute ? a.real(absolute) : 0;
  return linalg::pinv(x, least, a.has(relative) ? a.real(relative) : has_absolute ? 0 : -1);
}
const Function pinv("linalg.pinv", "A, rcond=None, hermitian=False, *, atol=None, rtol=None", [](const Arguments &a) {
  return pseudo_inverse(a, matrices_in(a), "atol", a.has("rcond") ? "rcond" : "rtol");
});

// Residuals are those of matrices with more rows than columns, all of them independent.
const Function lstsq("linalg.lstsq", "A, B, rcond=None, *, driver=None", [](const Arguments &a) -> Argument {
  const Variable x = matrices_in(a), b = a.variable("B");
  const Shape &s = x.shape();
  const bool vectors = b.shape().size() + 1 == s.size();
  Shape column = b.shape();
  if (vectors) column.push_back(1);
  const Variable right = reshape(b, column);
  if (column.size() < 2 || column[column.size() - 2] != s[s.size() - 2]) a.refuse("B", "as many rows as 'A' has");
  const Variable y = matmul(pseudo_inverse(a, x, nullptr, "rcond"), right);
  const Variable rank = variable_of(call("linalg.matrix_rank", {x}, {{"rtol", a["rcond"]}}));
  const std::vector<int64_t> ranks = rank.value().integers();
  const bool is_full = std::all_of(ranks.begin(), ranks.end(), [&](int64_t r) { return r == s.back(); });
  Variable residuals = Tensor::empty({0}, x.type());
  if (is_full && s[s.size() - 2] > s.back()) {
    const Variable left = right - matmul(x, y);
    const Variable squares = sum(left * left, {-2});
    Shape shape = squares.shape();
    shape.erase(shape.end() - 2);
    residuals = reshape(squares, shape);
  }
  const Variable solution = vectors ? reshape(y, {y.shape().begin(), y.shape().end() - 1}) : y;
  return std::vector<Variable>{solution, residuals, rank, linalg::svd(x)[1]};
});

// ---- Decompositions.

const Function qr("linalg.qr", "A, mode='reduced'", [](const Arguments &a) -> Argument {
  const std::string &mode = a.word("mode", {"reduced", "complete", "r"});
  std::vector<Variable> both = listed(linalg::qr(matrices_in(a), mode == "complete"));
  if (mode == "r") both[0] = Tensor::empty({0}, both[1].type());
  return both;
});
const Function svd("linalg.svd", "A, full_matrices=True, *, driver=None",
                   [](const Arguments &a) { return listed(linalg::svd(matrices_in(a), a.flag("full_matrices"))); });
const Function svdvals("linalg.svdvals", "A, *, driver=None",
                       [](const Arguments &a) { return linalg::svd(matrices_in(a))[1]; });

std::array<Variable, 2> eigen(const Arguments &a) {
  const Variable x = square_in(a);
  return linalg::eigh(a.word("UPLO", {"L", "U"}) == "L" ? x : transposed(x));
}
const Function eigh("linalg.eigh", "A, UPLO='L'", [](const Arguments &a) { return listed(eigen(a)); });
const Function eigvalsh("linalg.eigvalsh", "A, UPLO='L'", [](const Arguments &a) { return eigen(a)[0]; });

// ---- Products.

Tensor identity(const Shape &shape, Type type) {
  Tensor one = Tensor::zeros({shape.back(), shape.back()}, type);
  copy(one.viewed({shape.back()}, {shape.back() + 1}), Tensor::full({shape.back()}, 1, type));
  return one;
}

const Function matrix_power("linalg.matrix_power", "A, n", [](const Arguments &a) {
  Variable square = square_in(a), y;
  int64_t n = a.integer("n");
  if (n == 0) return expand(identity(square.shape(), square.type()), square.shape());
  if (n < 0) square = linalg::inv(square);
  for (n = std::abs(n); n > 0; n /= 2) {
    if (n % 2 == 1) y = y.defined() ? matmul(y, square) : square;
    if (n > 1) square = matmul(square, square);
  }
  return y;
});

// In the order that takes the fewest multiplications: cost[i][j] is that of factors i to j, cut[i][j] where they are parted.
const Function multi_dot("linalg.multi_dot", "tensors", [](const Arguments &a) {
  std::vector<Variable> all = a.variables("tensors");
  if (all.size() < 2) a.refuse("tensors", "at least two");
  const bool row = all.front().shape().size() == 1, column = all.back().shape().size() == 1;
  if (row) all.front() = reshape(all.front(), {1, -1});
  if (column) all.back() = reshape(all.back(), {-1, 1});
  for (const Variable &x : all)
    if (x.shape().size() != 2) a.refuse("tensors", "matrices, of which the first and the last may be vectors");
  const size_t n = all.size();
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
  std::vector<std::vector<size_t>> cut(n, std::vector<size_t>(n, 0));
  for (size_t length = 2; length <= n; ++length)
    for (size_t i = 0; i + length <= n; ++i) {
      const size_t j = i + length - 1;
      cost[i][j] = std::numeric_limits<double>::infinity();
      for (size_t k = i; k < j; ++k) {
        const double c = cost[i][k] + cost[k + 1][j] +
                         static_cast<double>(all[i].shape()[0]) * static_cast<double>(all[k].shape()[1]) *
                             static_cast<double>(all[j].shape()[1]);
        if (!(c < cost[i][j])) continue;
        cost[i][j] = c;
        cut[i][j] = k;
      }
    }
  const std::function<Variable(size_t, size_t)> product = [&](size_t i, size_t j) {
    return i == j ? all[i] : matmul(product(i, cut[i][j]), product(cut[i][j] + 1, j));
  };
  const Variable y = product(0, n - 1);
  Shape shape;
  if (!row) shape.push_back(y.shape()[0]);
  if (!column) shape.push_back(y.shape()[1]);
  return reshape(y, shape);
});

const Function cross("linalg.cross", "input, other, *, dim=-1", [](const Arguments &a) {
  const Variable x = a.variable("input"), y = a.variable("other");
  const Shape shape = broadcast_shape(x.shape(), y.shape(), a.owner());
  const int64_t d = dimension(a.integer("dim"), static_cast<int>(shape.size()), a.owner());
  if (shape[static_cast<size_t>(d)] != 3) a.refuse("dim", "a dimension of extent 3");
  const auto turned = [&](const Variable &v, int64_t by) {
    return variable_of(call("roll", {expand(v, shape), by, d}));
  };
  return turned(x, -1) * turned(y, -2) - turned(x, -2) * turned(y, -1);
});

}  // namespace

const void *linear_algebra() { return &solve; }

}  // namespace saltern::nn
