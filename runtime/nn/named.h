#pragma once
// Rows of the tables, to be called in C++: nn::Linear(784, 10), nn::softmax(x, "dim"_a = 1), nn::einsum("ij,jk->ik", {a, b}).
// Arguments are given by place and, as "name"_a = value, by name; a list of them in braces.

#include "runtime/nn/layer.h"

namespace saltern::nn {

struct NamedLayer {
  const char *name;
  Layer operator()(const Given &a = none, const Given &b = none, const Given &c = none, const Given &d = none,
                   const Given &e = none, const Given &f = none, const Given &g = none, const Given &h = none,
                   const Given &i = none, const Given &j = none, const Given &k = none, const Given &l = none,
                   const Given &m = none) const;
};

// The result is a Variable, a pair of them, or a list.
template <typename Result>
struct NamedFunction {
  const char *name;
  Result operator()(const Given &a = none, const Given &b = none, const Given &c = none, const Given &d = none,
                    const Given &e = none, const Given &f = none, const Given &g = none, const Given &h = none,
                    const Given &i = none, const Given &j = none) const;
};

using Pair = std::pair<Variable, Variable>;
using List = std::vector<Variable>;
extern template struct NamedFunction<Variable>;
extern template struct NamedFunction<Pair>;
extern template struct NamedFunction<List>;

}  // namespace saltern::nn
