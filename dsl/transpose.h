#pragma once
// The transpose of a load: who reads a given element?
//
// A stage with iterators t (its axes, then its steps) loads v[I(t)]. Its gradient is a sum over all t with I(t) = a, for
// each element a of v. Here the equations I(t) = a are solved for t, so that the gradient gathers:
//
//   v[t0]             t0 = a0
//   v[0]              nothing to solve: t stays a step                                      (broadcast becomes sum)
//   v[t0 s + t1]      t1 = a mod s + s j, t0 = a div s - j, with j the step               (windows, strides, splits)
//   v[t0 s + t1 d]    t0 = (a - d t1) div s where s divides a - d t1                        (strides and dilations)
//   v[t0 div s]       t0 = s a + r, with r the step                                         (merged axes, repetition)
//   v[w[t0], t1]      t1 = a1; t0 stays a step and elements are scattered to w[t0]          (indices from data)
//
// What is left of t are steps; what holds only for some a are conditions. An equation that holds nothing unknown any more
// is a condition too: for labels, l[t0] = a1 after t0 = a0.

#include "dsl/value.h"

namespace saltern::formula {

struct Transposed {
  std::vector<Expression> iterators;  // each t, in the axes of v and the steps behind them
  std::vector<Expression> steps;      // their extents
  Expression condition;
  std::vector<Expression> targets;  // none: a gather; else where elements of v are added to, by dimension
};

Transposed transposed(const std::vector<Expression> &indices, const std::vector<Expression> &iterator_extents,
                      const std::vector<Expression> &loaded_extents);

}  // namespace saltern::formula
