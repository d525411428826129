#pragma once
// Cross-entropy of logits against class labels.
//
//   x(c, n)  labels(n)  ->  loss(n) = -log softmax(x)(labels(n), n)
//
//   dx(c, n) = dloss(n) (softmax(x)(c, n) - [c = labels(n)])
//
// A label that names no class is a sample to leave out: its loss and its gradient are 0.

#include "algorithms/softmax.h"

namespace saltern::algorithms {

struct CrossEntropy {
  SoftmaxStages stages;
  Tensor loss;
};

inline CrossEntropy cross_entropy(const Tensor &x, const Tensor &labels) {
  Halide::Var n("n");
  const SoftmaxStages s = softmax_stages(x);
  const Halide::Expr label = labels(n), known = label >= 0 && label < x.extent(0);
  Halide::Func loss("cross_entropy");
  loss(n) = Halide::select(known, s.largest(n) + dsl::log(s.total(n)) - x(Halide::clamp(label, 0, x.extent(0) - 1), n),
                           Halide::cast(x.type(), 0));
  return {s, {loss, {x.extent(1)}}};
}

struct CrossEntropyGradient {
  SoftmaxStages stages;
  Tensor x;
};

inline CrossEntropyGradient cross_entropy_gradient(const Tensor &x, const Tensor &labels, const Tensor &dloss) {
  Halide::Var c("c"), n("n");
  const SoftmaxStages s = softmax_stages(x);
  const Halide::Expr known = labels(n) >= 0 && labels(n) < x.extent(0), zero = Halide::cast(x.type(), 0);
  const Halide::Expr truth = Halide::select(c == labels(n), Halide::cast(x.type(), 1), zero);
  Halide::Func dx("cross_entropy_dx");
  dx(c, n) = Halide::select(known, dloss(n), zero) * (s.power(c, n) / s.total(n) - truth);
  return {s, {dx, x.extents()}};
}

}  // namespace saltern::algorithms
