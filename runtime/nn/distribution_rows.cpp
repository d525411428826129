// Distributions by their formulas; samples come from the stream of manual_seed().

#include <cmath>
#include <limits>

#include "runtime/layers/binary.h"
#include "runtime/layers/matmul.h"
#include "runtime/layers/movement.h"
#include "runtime/layers/unary.h"
#include "runtime/nn/composed.h"
#include "runtime/nn/distribution_row.h"
#include "runtime/nn/families.h"
#include "runtime/nn/types.h"
#include "runtime/tensor/strided.h"

namespace saltern::nn {

namespace {

using P = const std::vector<Variable> &;
using V = const Variable &;

constexpr double infinity = std::numeric_limits<double>::infinity();
const double log_of_circle = std::log(2 * M_PI);

Variable of(const char *name, V x) { return composed(name, {x}); }
Variable over_last(V x) { return composed("sum", {x, -1}); }
double elements_of_vectors(V x) {
  if (x.shape().empty()) fail("a distribution of vectors was given a number; expected vectors");
  return static_cast<double>(x.shape().back());
}

// ---- Draws.

Shape behind(const Shape &samples, const Shape &shape) {
  Shape all = samples;
  all.insert(all.end(), shape.begin(), shape.end());
  return all;
}
Variable drawn(const char *how, V like, const Shape &samples) {
  return composed(how, {behind(samples, like.shape()), numpy_name(like.value().type())});
}
// Of Gamma(concentration, 1); none is 0.
Variable drawn_gamma(V concentration, const Shape &samples) {
  const bool wide = concentration.value().type() == Type::f64;
  const double least = wide ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  return composed("clamp",
                  {call("random.gamma", {expand(concentration, behind(samples, concentration.shape()))}), least});
}
Variable first_share(V x) { return composed("select", {x, -1, 0}); }

// ---- Parts of formulas.

Variable standard(P p, V x) { return (x - p[0]) / p[1]; }
Variable shares(P p) { return composed("stack", {{p[0], p[1]}, -1}); }
Variable log_beta(V c) { return over_last(of("lgamma", c)) - of("lgamma", over_last(c)); }
Variable dirichlet_density(V c, V x) { return over_last(composed("xlogy", {c - 1.0, x})) - log_beta(c); }
Variable dirichlet_entropy(V c) {
  const Variable total = over_last(c);
  return log_beta(c) + (total - elements_of_vectors(c)) * of("digamma", total) -
         over_last((c - 1.0) * of("digamma", c));
}
Variable dirichlet_kl(V a, V b) {
  const Variable means = of("digamma", a) - of("digamma", composed("sum", {a, -1, true}));
  return log_beta(b) - log_beta(a) + over_last((a - b) * means);
}
Variable half_log_determinant(V triangle) { return over_last(log(composed("diagonal", {triangle, 0, -2, -1}))); }
Variable solved(V triangle, V x) { return composed("linalg.solve_triangular", {triangle, x}, {{"upper", false}}); }
Variable column(V x) { return composed("unsqueeze", {x, -1}); }
Variable squares(V x) { return composed("sum", {square(x), {-2, -1}}); }

// ---- The rows.

const DistributionRow rows[] = {
    {"Normal",
     {"loc", "scale"},
     ".+",
     [](P p, V x) { return square(standard(p, x)) * -0.5 - log(p[1]) - 0.5 * log_of_circle; },
     [](P p) { return log(p[1]) + 0.5 * (1 + log_of_circle); },
     [](P p, const Shape &s) { return p[0] + p[1] * drawn("random.normal", p[0], s); },
     [](P p, P q) {
       const Variable ratio = square(p[1] / q[1]);
       return (ratio + square((p[0] - q[0]) / q[1]) - 1.0 - log(ratio)) * 0.5;
     }},
    {"Laplace",
     {"loc", "scale"},
     ".+",
     [](P p, V x) { return -absolute(standard(p, x)) - log(p[1] * 2.0); },
     [](P p) { return log(p[1] * 2.0) + 1.0; },
     [](P p, const Shape &s) {
       const Variable u = drawn("random.uniform", p[0], s) - 0.5;
       return p[0] - p[1] * of("sign", u) * of("log1p", absolute(u) * -2.0);
     },
     [](P p, P q) {
       const Variable away = absolute(p[0] - q[0]);
       return log(q[1] / p[1]) + (p[1] * exp(-away / p[1]) + away) / q[1] - 1.0;
     }},
    // Outside of [low, high) the density is 0.
    {"Uniform",
     {"low", "high"},
     "..",
     [](P p, V x) {
       const Argument inside = call("logical_and", {call("ge", {x, p[0]}), call("lt", {x, p[1]})});
       return composed("where", {inside, x * 0.0 - log(p[1] - p[0]), -infinity});
     },
     [](P p) { return log(p[1] - p[0]); },
     [](P p, const Shape &s) { return p[0] + (p[1] - p[0]) * drawn("random.uniform", p[0], s); },
     [](P p, P q) {
       const Argument inside = call("logical_and", {call("le", {q[0], p[0]}), call("le", {p[1], q[1]})});
       return composed("where", {inside, log((q[1] - q[0]) / (p[1] - p[0])), infinity});
     }},
    {"Exponential",
     {"rate"},
     "+",
     [](P p, V x) { return log(p[0]) - p[0] * x; },
     [](P p) { return 1.0 - log(p[0]); },
     [](P p, const Shape &s) { return -log(drawn("random.uniform", p[0], s)) / p[0]; },
     [](P p, P q) {
       const Variable ratio = q[0] / p[0];
       return ratio - 1.0 - log(ratio);
     }},
    {"Gamma",
     {"concentration", "rate"},
     "++",
     [](P p, V x) {
       return composed("xlogy", {p[0], p[1]}) + composed("xlogy", {p[0] - 1.0, x}) - p[1] * x - of("lgamma", p[0]);
     },
     [](P p) { return p[0] - log(p[1]) + of("lgamma", p[0]) + (1.0 - p[0]) * of("digamma", p[0]); },
     [](P p, const Shape &s) { return drawn_gamma(p[0], s) / p[1]; },
     [](P p, P q) {
       return (p[0] - q[0]) * of("digamma", p[0]) + of("lgamma", q[0]) - of("lgamma", p[0]) + q[0] * log(p[1] / q[1]) +
              p[0] * (q[1] / p[1] - 1.0);
     }},
    // Shares that are 1 together.
    {"Dirichlet",
     {"concentration"},
     "+",
     [](P p, V x) { return dirichlet_density(p[0], x); },
     [](P p) { return dirichlet_entropy(p[0]); },
     [](P p, const Shape &s) {
       const Variable g = drawn_gamma(p[0], s);
       return g / composed("sum", {g, -1, true});
     },
     [](P p, P q) { return dirichlet_kl(p[0], q[0]); }},
    // The first of two shares.
    {"Beta",
     {"concentration1", "concentration0"},
     "++",
     [](P p, V x) {
       return dirichlet_density(shares(p), composed("stack", {{x, 1.0 - x}, -1}));
     },
     [](P p) { return dirichlet_entropy(shares(p)); },
     [](P p, const Shape &s) {
       const Variable g = drawn_gamma(shares(p), s);
       return first_share(g / composed("sum", {g, -1, true}));
     },
     [](P p, P q) { return dirichlet_kl(shares(p), shares(q)); }},
    {"Bernoulli",
     {"logits"},
     ".",
     [](P p, V x) { return x * p[0] - of("softplus", p[0]); },
     [](P p) { return of("softplus", p[0]) - sigmoid(p[0]) * p[0]; },
     [](P p, const Shape &s) {
       const Variable hits = composed("lt", {drawn("random.uniform", p[0], s), sigmoid(p[0])});
       return to_type(hits, p[0].value().type());
     },
     [](P p, P q) { return sigmoid(p[0]) * (p[0] - q[0]) - of("softplus", p[0]) + of("softplus", q[0]); },
     false},
    // Logarithms of shares, along the last dimension. A sample is the best of each class's and a number of Gumbel's.
    {"Categorical",
     {"logits"},
     ".",
     [](P p, V x) {
       const Variable logits = composed("log_softmax", {p[0], -1});
       const Shape batch(logits.shape().begin(), logits.shape().end() - 1);
       const Shape shape = broadcast_shape(x.shape(), batch, "Categorical");
       const Variable at = column(expand(to_type(x, Type::i64), shape));
       return composed("squeeze",
                       {call("gather", {expand(logits, behind(shape, {logits.shape().back()})), -1, at}), -1});
     },
     [](P p) {
       const Variable logits = composed("log_softmax", {p[0], -1});
       return -over_last(exp(logits) * logits);
     },
     [](P p, const Shape &s) {
       const Variable u = drawn("random.uniform", p[0], s);
       return composed("argmax", {p[0] - log(-log(u)), -1});
     },
     [](P p, P q) {
       const Variable a = composed("log_softmax", {p[0], -1}), b = composed("log_softmax", {q[0], -1});
       return over_last(exp(a) * (a - b));
     },
     false},
    // With the lower triangle of its covariance, by Cholesky.
    {"MultivariateNormal",
     {"loc", "scale_tril"},
     "..",
     [](P p, V x) {
       const Variable z = solved(p[1], column(x - p[0]));
       return squares(z) * -0.5 - half_log_determinant(p[1]) - 0.5 * log_of_circle * elements_of_vectors(p[0]);
     },
     [](P p) { return half_log_determinant(p[1]) + 0.5 * (1 + log_of_circle) * elements_of_vectors(p[0]); },
     [](P p, const Shape &s) {
       return p[0] + composed("squeeze", {matmul(p[1], column(drawn("random.normal", p[0], s))), -1});
     },
     [](P p, P q) {
       const Variable spread = squares(solved(q[1], p[1])) + squares(solved(q[1], column(q[0] - p[0])));
       return half_log_determinant(q[1]) - half_log_determinant(p[1]) + (spread - elements_of_vectors(p[0])) * 0.5;
     }},
};

}  // namespace

const void *distribution_rows() { return rows; }

}  // namespace saltern::nn
