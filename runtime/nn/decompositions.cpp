#include "runtime/nn/decompositions.h"

#include <limits>

#include "runtime/layers/binary.h"
#include "runtime/layers/matmul.h"
#include "runtime/nn/function.h"
#include "runtime/nn/matrix_routines.h"
#include "runtime/tensor/strided.h"

namespace saltern::linalg {

namespace {

using namespace formula;
using Tensors = std::vector<Tensor>;
using Variables = std::vector<Variable>;

Variable after(const Variable &y, const Variable &gradient) { return y.defined() ? y + gradient : gradient; }
Variable symmetric(const Variable &x) { return (x + transposed(x)) * 0.5; }
Variable column(const Variable &x) {
  Shape shape = x.shape();
  shape.push_back(1);
  return reshape(x, shape);
}
Variable row(const Variable &x) { return transposed(column(x)); }
Variable as_matrix(const Variable &number) { return column(column(number)); }
Variable on_one_side(bool upper, const Variable &x, bool without_diagonal) {
  const int64_t from = without_diagonal ? (upper ? 1 : -1) : 0;
  return nn::variable_of(nn::call(upper ? "triu" : "tril", {x, from}));
}

// Elements of matrices by row and column.
Value by_place(const Value &x, const std::function<Expression(const Axes &, Expression row, Expression column)> &of) {
  return inlined(x.extents(), [&](const Axes &at) { return of(at, at[at.size() - 2], at.back()); });
}

// The lower triangle with half of the diagonal.
const Operation half_lower("linalg.half_lower", [](Value x) {
  return by_place(x, [&](const Axes &at, Expression i, Expression j) {
    const Expression zero = constant(x.type(), 0), half = constant(x.type(), 0.5);
    return select(i == j, x.at(at) * half, select(j < i, x.at(at), zero));
  });
});

// x(i, j) / (w(j) - w(i)), and 0 on the diagonal.
const Operation by_differences("linalg.by_differences", [](Value x, Value w) {
  return by_place(x, [&](const Axes &at, Expression i, Expression j) {
    Axes of_row(at.begin(), at.end() - 1), of_column = of_row;
    of_column.back() = j;
    const Expression zero = constant(x.type(), 0), one = constant(x.type(), 1);
    const Expression difference = select(i == j, one, w.at(of_column) - w.at(of_row));
    return select(i == j, zero, x.at(at) / difference);
  });
});

// A vector as a diagonal.
const Operation diagonal("linalg.diagonal", [](Value w) {
  std::vector<Expression> extents = w.extents();
  extents.push_back(extents.back());
  return inlined(extents, [&](const Axes &at) {
    const Expression i = at[at.size() - 2], j = at.back();
    return select(i == j, w.at({at.begin(), at.end() - 1}), constant(w.type(), 0));
  });
});

Variable negative(const Variable &x) { return x * -1.0; }

// ---- The rules. In them, g is the gradient of a result.

const Operation lower_factor(
    "linalg.cholesky",
    [](const Tensors &in, const Attributes &a) -> Tensors { return {matrices::cholesky(in.at(0), a.owner())}; },
    [](const Taped &t, const Variables &g) -> Variables {
      const Variable l = t.output(0), up = transposed(l);
      const Variable inner = solve_triangular(up, half_lower(matmul(up, g[0])), true);  // L^-T P
      return {symmetric(transposed(solve_triangular(up, transposed(inner), true)))};    // (L^-T P) L^-1
    });

const Operation solution(
    "linalg.solve",
    [](const Tensors &in, const Attributes &a) -> Tensors { return {matrices::solved(in.at(0), in.at(1), a.owner())}; },
    [](const Taped &t, const Variables &g) -> Variables {
      const Variable b = solve(transposed(t.input(0)), g[0]);
      return {t.needs(0) ? negative(matmul(b, transposed(t.output(0)))) : Variable(), b};
    });

const Operation solution_of_triangle(
    "linalg.solve_triangular",
    [](const Tensors &in, const Attributes &a) -> Tensors {
      const matrices::Triangle triangle{a.integer("upper") != 0, a.integer("unit") != 0};
      return {matrices::solved(in.at(0), in.at(1), triangle, a.owner())};
    },
    [](const Taped &t, const Variables &g) -> Variables {
      const bool upper = t.attributes().integer("upper") != 0, unit = t.attributes().integer("unit") != 0;
      const Variable b = solve_triangular(transposed(t.input(0)), g[0], !upper, unit);
      if (!t.needs(0)) return {Variable(), b};
      return {negative(on_one_side(upper, matmul(b, transposed(t.output(0))), unit)), b};
    });

const Operation inverse(
    "linalg.inv",
    [](const Tensors &in, const Attributes &a) -> Tensors { return {matrices::inverse(in.at(0), a.owner())}; },
    [](const Taped &t, const Variables &g) -> Variables {
      const Variable y = transposed(t.output(0));
      return {negative(matmul(matmul(y, g[0]), y))};
    });

// C = det(A) A^-T, which singular matrices have too; its own gradient is that of regular ones.
const Operation cofactors(
    "linalg.cofactors",
    [](const Tensors &in, const Attributes &a) -> Tensors { return {matrices::cofactors(in.at(0), a.owner())}; },
    [](const Taped &t, const Variables &g) -> Variables {
      const Variable y = transposed(inv(t.input(0))), c = t.output(0);
      const Variable along = sum(g[0] * c, {-2, -1});
      return {along * y - matmul(matmul(c, transposed(g[0])), y)};
    });

const Operation determinant(
    "linalg.det",
    [](const Tensors &in, const Attributes &a) -> Tensors { return {matrices::determinant(in.at(0), a.owner())}; },
    [](const Taped &t, const Variables &g) -> Variables { return {as_matrix(g[0]) * cofactors(t.input(0))}; });

const Operation signed_log_determinant(
    "linalg.slogdet",
    [](const Tensors &in, const Attributes &a) -> Tensors {
      const auto both = matrices::signed_log_determinant(in.at(0), a.owner());
      return {both[0], both[1]};
    },
    [](const Taped &t, const Variables &g) -> Variables {
      if (!g[1].defined()) return {Variable()};  // the sign is flat
      return {as_matrix(g[1]) * transposed(inv(t.input(0)))};
    });

const Operation eigen(
    "linalg.eigh",
    [](const Tensors &in, const Attributes &a) -> Tensors {
      const auto both = matrices::eigh(in.at(0), a.owner());
      return {both[0], both[1]};
    },
    [](const Taped &t, const Variables &g) -> Variables {
      const Variable w = t.output(0), v = t.output(1);
      Variable inner;
      if (g[0].defined()) inner = diagonal(g[0]);
      if (g[1].defined()) inner = after(inner, by_differences(matmul(transposed(v), g[1]), w));
      return {symmetric(matmul(matmul(v, inner), transposed(v)))};
    });

// The first k columns.
Variable first_columns(const Variable &x, int64_t k) { return x.shape().back() == k ? x : slice(x, -1, 0, k); }

const Operation singular(
    "linalg.svd",
    [](const Tensors &in, const Attributes &a) -> Tensors {
      const auto all = matrices::svd(in.at(0), a.integer("whole") != 0, a.owner());
      return {all[0], all[1], all[2]};
    },
    [](const Taped &t, const Variables &g) -> Variables {
      const Variable s = t.output(1);
      const int64_t k = s.shape().back();
      const Variable u = first_columns(t.output(0), k), v = first_columns(transposed(t.output(2)), k);
      const auto turned = [&](const Variable &x, const Variable &dx) {
        const Variable p = matmul(transposed(x), dx);
        return by_differences(p - transposed(p), s * s);
      };
      // What leaves the space of the first k columns.
      const auto outside = [&](const Variable &x, const Variable &dx) {
        return (dx - matmul(x, matmul(transposed(x), dx))) / row(s);
      };
      Variable inner, beside;
      if (g[1].defined()) inner = diagonal(g[1]);
      if (g[0].defined()) {
        const Variable du = first_columns(g[0], k);
        inner = after(inner, turned(u, du) * row(s));
        if (t.shape(0)[t.shape(0).size() - 2] > k) beside = matmul(outside(u, du), transposed(v));
      }
      if (g[2].defined()) {
        const Variable dv = first_columns(transposed(g[2]), k);
        inner = after(inner, column(s) * turned(v, dv));
        if (t.shape(0).back() > k) beside = after(beside, matmul(u, transposed(outside(v, dv))));
      }
      return {after(beside, matmul(matmul(u, inner), transposed(v)))};
    });

// Of no more columns than rows.
const Operation orthogonal(
    "linalg.qr",
    [](const Tensors &in, const Attributes &a) -> Tensors {
      const auto both = matrices::qr(in.at(0), a.integer("whole") != 0, a.owner());
      return {both[0], both[1]};
    },
    [](const Taped &t, const Variables &g) -> Variables {
      const Variable q = t.output(0), r = t.output(1);
      if (r.shape()[r.shape().size() - 2] != r.shape().back())
        fail("linalg.qr: Q of ", to_string(q.shape()), " is made of ", t.shape(0).back(),
             " columns and has no gradient; the mode 'reduced' has");
      Variable m;
      if (g[1].defined()) m = matmul(r, transposed(g[1]));
      if (g[0].defined()) m = after(m, negative(matmul(transposed(g[0]), q)));
      const Variable h = half_lower(m);
      Variable inner = matmul(q, h + transposed(h));
      if (g[0].defined()) inner = g[0] + inner;
      return {transposed(solve_triangular(r, transposed(inner), true))};
    });

const Operation pseudo_inverse(
    "linalg.pinv",
    [](const Tensors &in, const Attributes &a) -> Tensors {
      return {matrices::pseudo_inverse(in.at(0), a.real("absolute"), a.real("relative"), a.owner())};
    },
    [](const Taped &t, const Variables &g) -> Variables {
      const Variable a = t.input(0), p = t.output(0), up = transposed(p), h = transposed(g[0]);
      const Variable left = matmul(matmul(h, p), up), right = matmul(matmul(up, p), h);
      return {left - matmul(a, matmul(p, left)) + right - matmul(matmul(right, p), a) - matmul(matmul(up, g[0]), up)};
    });

// The gradient is a part of the exponential of a matrix twice as large.
const Operation exponential(
    "linalg.matrix_exp",
    [](const Tensors &in, const Attributes &a) -> Tensors { return {matrices::exponential(in.at(0), a.owner())}; },
    [](const Taped &t, const Variables &g) -> Variables {
      const Variable a = transposed(t.input(0));
      const int64_t n = a.shape().back();
      const Variable whole = concat({concat({a, g[0]}, -1), concat({g[0] * 0.0, a}, -1)}, -2);
      return {slice(slice(matrix_exp(whole), -2, 0, n), -1, n, n)};
    });

Variable spread(const Variable &x, const Shape &batch) {
  Shape shape = batch;
  shape.insert(shape.end(), x.shape().end() - 2, x.shape().end());
  return expand(x, shape);
}

struct Sides {
  Variable a, b;
};
Sides broadcast(const char *who, const Variable &a, const Variable &b) {
  const Shape &s = a.shape(), &t = b.shape();
  if (s.size() < 2 || t.size() < 2 || s[s.size() - 2] != s.back() || s.back() != t[t.size() - 2])
    fail(who, ": 'A' is ", to_string(s), " and 'B' ", to_string(t), "; expected square matrices and as many rows");
  const Shape batch = broadcast_shape({s.begin(), s.end() - 2}, {t.begin(), t.end() - 2}, who);
  return {spread(a, batch), spread(b, batch)};
}

}  // namespace

Variable cholesky(const Variable &a) { return lower_factor(a); }
Variable solve(const Variable &a, const Variable &b) {
  const Sides s = broadcast("linalg.solve", a, b);
  return solution(s.a, s.b);
}
Variable solve_triangular(const Variable &a, const Variable &b, bool upper, bool unit) {
  const Sides s = broadcast("linalg.solve_triangular", a, b);
  return apply_one(solution_of_triangle, {s.a, s.b}, {{"upper", int64_t{upper}}, {"unit", int64_t{unit}}});
}
Variable inv(const Variable &a) { return inverse(a); }
Variable det(const Variable &a) { return determinant(a); }
std::array<Variable, 2> slogdet(const Variable &a) {
  const Variables both = apply(signed_log_determinant, {a});
  return {both[0], both[1]};
}
std::array<Variable, 2> eigh(const Variable &a) {
  const Variables both = apply(eigen, {a});
  return {both[0], both[1]};
}
std::array<Variable, 3> svd(const Variable &a, bool whole) {
  const Variables all = apply(singular, {a}, {{"whole", int64_t{whole}}});
  return {all[0], all[1], all[2]};
}

// Of more columns than rows: the first ones are decomposed, and the others seen from there.
std::array<Variable, 2> qr(const Variable &a, bool whole) {
  const Shape &shape = a.shape();
  const int64_t m = shape.size() < 2 ? 0 : shape[shape.size() - 2], more = shape.empty() ? 0 : shape.back() - m;
  const Variable square = shape.size() >= 2 && more > 0 ? slice(a, -1, 0, m) : a;
  const Variables both = apply(orthogonal, {square}, {{"whole", int64_t{whole}}});
  if (shape.size() < 2 || more <= 0) return {both[0], both[1]};
  return {both[0], concat({both[1], matmul(transposed(both[0]), slice(a, -1, m, more))}, -1)};
}

Variable pinv(const Variable &a, double absolute, double relative) {
  if (relative < 0 && a.shape().size() >= 2) {
    const double epsilon =
        a.type() == Type::f64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
    relative = epsilon * static_cast<double>(std::max(a.shape().back(), a.shape()[a.shape().size() - 2]));
  }
  return apply_one(pseudo_inverse, {a}, {{"absolute", absolute}, {"relative", relative}});
}
Variable matrix_exp(const Variable &a) { return exponential(a); }

}  // namespace saltern::linalg
