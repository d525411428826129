#pragma once
// Losses of scores x(n, c) that ask for a margin between classes.
//
//   multi_margin(n)        sum over c other than the label of w(label) max(0, margin - x(label) + x(c))^p / C
//   multilabel_margin(n)   sum over labels l and other classes c of max(0, 1 - x(l) + x(c)) / C; the labels of a row,
//                          labels(n, c), end at the first negative one
//
// The gradient at the margin is 0.

#include "algorithms/functions.h"

namespace saltern::algorithms {

using namespace formula;

// `weights` may be undefined.
inline Value multi_margin(const Value &x, const Value &labels, const Value &weights, double p, double margin) {
  const Value label = cast(Type::i64, labels);
  const Value gap = relu(inlined(x.extents(), [&](const Axes &at) {
    const Expression l = label(at[0]), w = margin - x(at[0], l) + x.at(at);
    return select(at[1] == l, constant(x.type(), 0), w);
  }));
  const Value loss = p == 2 ? gap * gap : gap;
  const Value scaled = weights.defined()
                           ? loss * inlined({x.extent(0), 1}, [&](const Axes &at) { return weights(label(at[0])); })
                           : loss;
  return inlined({x.extent(0)}, [m = mean(scaled, {1})](const Axes &at) { return m(at[0], 0); });
}

inline Value multilabel_margin(const Value &x, const Value &labels) {
  const Expression &classes = x.extent(1);
  const Value label = cast(Type::i64, labels);
  const Value count = compute("count", {x.extent(0)}, [&](const Axes &n) {
    return reduce_open(Function::least, {classes},
                       [&](const Axes &c) { return select(label(n[0], c[0]) < 0, c[0], classes); });
  });
  const Value is_label = compute("is_label", x.extents(), [&](const Axes &at) {
    return sum({classes},
               [&](const Axes &c) { return cast(Type::i64, c[0] < count(at[0]) && label(at[0], c[0]) == at[1]); });
  });
  const Value gap = relu(inlined({x.extent(0), classes, classes}, [&](const Axes &at) {  // of label, other class
    const Expression l = label(at[0], at[1]);
    const Expression counts = at[1] < count(at[0]) && is_label(at[0], at[2]) == 0;
    return select(counts, 1 - x(at[0], l) + x(at[0], at[2]), constant(x.type(), 0));
  }));
  const Value total = sum(gap, {1, 2});
  return inlined({x.extent(0)}, [&](const Axes &n) { return total(n[0], 0, 0) / cast(x.type(), classes); });
}

}  // namespace saltern::algorithms
