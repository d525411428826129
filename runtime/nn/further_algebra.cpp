// Linear algebra by functions that others have: old names of torch, equations by factors, and tensors as matrices.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/layers/binary.h"
#include "runtime/layers/movement.h"
#include "runtime/layers/reduction.h"
#include "runtime/nn/composed.h"
#include "runtime/nn/families.h"

namespace saltern::nn {

namespace {

std::vector<Variable> list_of(const Argument &a) {
  std::vector<Variable> all;
  for (const Argument &e : *a.as<Argument::List>()) all.push_back(variable_of(e));
  return all;
}

// ---- Old names.

const Function pinverse("pinverse", "input, rcond=1e-15",
                        [](const Arguments &a) { return call("linalg.pinv", a.values()); });
const Function matrix_exp("matrix_exp", "input",
                          [](const Arguments &a) { return call("linalg.matrix_exp", a.values()); });
const Function logdet("logdet", "input", [](const Arguments &a) {  // no number where the determinant is below 0
  const std::vector<Variable> both = list_of(call("linalg.slogdet", {a["input"]}));
  return call("where", {composed("lt", {both[0], 0}), std::nan(""), both[1]});
});
const Function svd("svd", "input, some=True, compute_uv=True", [](const Arguments &a) {
  std::vector<Variable> all = list_of(call("linalg.svd", {a["input"], !a.flag("some")}));
  all[2] = transposed(all[2]);
  return all;
});

// ---- Equations.

// What a factor is of. Its other triangle counts for nothing; its gradient is that of the product, as PyTorch has it.
Variable product_of_factor(const Arguments &a, const char *name) {
  const Variable given = a.variable(name), l = a.flag("upper") ? transposed(given) : given;
  const Variable low = l + (composed("tril", {l}) - l).detached();
  return composed("matmul", {low, transposed(low)});
}
const Function cholesky_solve("cholesky_solve", "input, L, upper=False", [](const Arguments &a) {
  return call("linalg.solve", {product_of_factor(a, "L"), a["input"]});
});
const Function cholesky_inverse("cholesky_inverse", "input, upper=False",
                                [](const Arguments &a) { return call("linalg.inv", {product_of_factor(a, "input")}); });
const Function triangular_solve("triangular_solve", "input, A, upper=True, transpose=False, unitriangular=False",
                                [](const Arguments &a) {
                                  Variable x = a.variable("A");
                                  const bool turns = a.flag("transpose");
                                  if (turns) x = transposed(x);
                                  return std::vector<Variable>{composed("linalg.solve_triangular", {x, a["input"]},
                                                                        {{"upper", a.flag("upper") != turns},
                                                                         {"unitriangular", a["unitriangular"]}}),
                                                               composed("clone", {a["A"]})};
                                });

// With 0 as the code of success; what cannot be done is an error here.
struct WithCode {
  WithCode(const std::string &name, const std::string &of, const std::string &signature, const char *flag = nullptr)
      : function(name, signature, [=](const Arguments &a) {
          std::vector<Argument> given;
          Named named;
          for (const char *operand : {"A", "B"})
            if (a.signature().has(operand)) given.push_back(a[operand]);
          if (flag) named[flag] = a[flag];
          const Shape &shape = a.variable("A").shape();
          return std::vector<Variable>{composed(of, given, named),
                                       Tensor::zeros({shape.begin(), shape.end() - 2}, Type::i32)};
        }) {}
  Function function;
};
const WithCode with_code[] = {
    {"linalg.inv_ex", "linalg.inv", "A, *, check_errors=False"},
    {"linalg.cholesky_ex", "linalg.cholesky", "A, *, upper=False, check_errors=False", "upper"},
    {"linalg.solve_ex", "linalg.solve", "A, B, *, left=True, check_errors=False", "left"},
};

// A tensor as the matrix of its first dimensions by the others.
Variable as_matrix(const Variable &x, size_t first) {
  const int64_t rows = std::accumulate(x.shape().begin(), x.shape().begin() + static_cast<std::ptrdiff_t>(first),
                                       int64_t{1}, std::multiplies<>());
  return reshape(x, {rows, rows == 0 ? 0 : x.size() / rows});
}
const Function tensorinv("linalg.tensorinv", "A, ind=2", [](const Arguments &a) {
  const Variable x = a.variable("A");
  const auto first = static_cast<size_t>(a.integer("ind"));
  if (first < 1 || first >= x.shape().size()) a.refuse("ind", "a number of dimensions of 'A'");
  Shape shape(x.shape().begin() + static_cast<std::ptrdiff_t>(first), x.shape().end());
  shape.insert(shape.end(), x.shape().begin(), x.shape().begin() + static_cast<std::ptrdiff_t>(first));
  return reshape(composed("linalg.inv", {as_matrix(x, first)}), shape);
});
const Function tensorsolve("linalg.tensorsolve", "A, B, dims=None", [](const Arguments &a) {
  Variable x = a.variable("A");
  const Variable b = a.variable("B");
  if (a.has("dims")) {
    const std::vector<int64_t> dims = a.integers("dims");
    std::vector<int64_t> ends(dims.size());
    std::iota(ends.begin(), ends.end(), x.rank() - static_cast<int64_t>(dims.size()));
    x = composed("movedim", {x, dims, ends});
  }
  const size_t first = b.shape().size();
  const Variable y = composed("linalg.solve", {as_matrix(x, first), reshape(b, {-1})});
  return reshape(y, {x.shape().begin() + static_cast<std::ptrdiff_t>(first), x.shape().end()});
});

// ---- Products.

const Function vecdot("linalg.vecdot", "x, y, *, dim=-1", [](const Arguments &a) {
  return call("sum", {composed("mul", {a["x"], a["y"]}), a["dim"]});
});
const Function diagonal("linalg.diagonal", "A, *, offset=0, dim1=-2, dim2=-1", [](const Arguments &a) {
  return call("diagonal", {a["A"], a["offset"], a["dim1"], a["dim2"]});
});
const Function vander("linalg.vander", "x, *, N=None", [](const Arguments &a) {
  const Variable given = a.variable("x"), x = given.shape().empty() ? reshape(given, {1}) : given;
  const int64_t n = a.has("N") ? a.integer("N") : x.shape().back();
  std::vector<Variable> columns = {composed("mul", {x, 0}) + 1.0};
  while (static_cast<int64_t>(columns.size()) < n) columns.push_back(columns.back() * x);
  return call("stack", {columns, -1});
});

// ---- Parts of a tensor no longer than a length.

const Function renorm("renorm", "input, p, dim, maxnorm", [](const Arguments &a) {
  const Variable x = a.variable("input");
  const int64_t d = dimension(a.integer("dim"), x.rank(), a.owner());
  std::vector<int64_t> others;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != d) others.push_back(i);
  const Variable length = composed("linalg.vector_norm", {x, a["p"], others, true});
  const Variable shorter = composed("div", {a.real("maxnorm"), length + 1e-7});
  return x * composed("where", {composed("gt", {length, a["maxnorm"]}), shorter, 1.0});
});

}  // namespace

const void *further_algebra() { return &pinverse; }

}  // namespace saltern::nn
