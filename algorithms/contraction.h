#pragma once
// Products summed over shared axes.

#include <algorithm>
#include <map>
#include <string>

#include "dsl/derivative.h"

namespace saltern::algorithms {

using namespace formula;

// a(..., i, k) b(..., k, j); the axes in front broadcast.
inline Value matmul(const Value &a, const Value &b) {
  const bool longer = b.rank() > a.rank();
  std::vector<Expression> extents = longer ? b.extents() : a.extents();
  const Value &other = longer ? a : b;
  const auto front = static_cast<int>(extents.size()) - other.rank();
  for (int d = 0; d + 2 < other.rank(); ++d)
    if (!is_number(other.extent(d), 1)) extents[static_cast<size_t>(d + front)] = other.extent(d);
  extents[extents.size() - 2] = a.extent(-2);
  extents.back() = b.extent(-1);
  return compute("matmul", extents, [&](const Axes &at) {
    return sum({a.extent(-1)}, [&](Expression k) {
      Axes left(at.end() - a.rank(), at.end()), right(at.end() - b.rank(), at.end());
      left.back() = right[right.size() - 2] = k;
      return a.at(left) * b.at(right);
    });
  });
}

// x(n, i) w(o, i) -> (n, o)
inline Value dense(const Value &x, const Value &w) {
  return compute("dense", {x.extent(0), w.extent(0)}, [&](Expression n, Expression o) {
    return sum({x.extent(1)}, [&](const Axes &i) { return w(o, i[0]) * x(n, i[0]); });
  });
}

inline Value dense_gradient_x(const Value &w, const Value &dy) {
  return adjoint({dy.extent(0), w.extent(1)}, dy, [&](const Value &x) { return dense(x, w); });
}

inline Value dense_gradient_w(const Value &x, const Value &dy) {
  return adjoint({dy.extent(1), x.extent(1)}, dy, [&](const Value &w) { return dense(x, w); });
}

// The product of all, whose axes have these labels, summed over labels that the result has not; an extent of 1
// broadcasts.
using Labels = std::vector<int>;
inline Value einsum(const Values &all, const std::vector<Labels> &labels, const Labels &result) {
  std::map<int, Expression> extent;
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t d = 0; d < labels[i].size(); ++d) {
      Expression &known = extent.emplace(labels[i][d], 1).first->second;
      if (is_number(known, 1)) known = all[i].extent(static_cast<int>(d));
    }
  Labels summed;
  for (const auto &[label, e] : extent)
    if (std::find(result.begin(), result.end(), label) == result.end()) summed.push_back(label);
  const auto list = [](const Labels &of, const std::map<int, Expression> &from) {
    std::vector<Expression> found;
    for (int label : of) found.push_back(from.at(label));
    return found;
  };
  return compute("einsum", list(result, extent), [&](const Axes &at) {
    return sum(list(summed, extent), [&](const Axes &k) {
      std::map<int, Expression> index;
      for (size_t d = 0; d < result.size(); ++d) index[result[d]] = at[d];
      for (size_t d = 0; d < summed.size(); ++d) index[summed[d]] = k[d];
      Expression product;
      for (size_t i = 0; i < all.size(); ++i) {
        const Expression e = all[i].at(list(labels[i], index));
        product = product.defined() ? product * e : e;
      }
      return product;
    });
  });
}

// "bij,bjk->bik" of two values.
inline Value einsum(const std::string &text, const Value &a, const Value &b) {
  const size_t comma = text.find(','), arrow = text.find("->");
  return einsum({a, b}, {{text.begin(), text.begin() + comma}, {text.begin() + comma + 1, text.begin() + arrow}},
                {text.begin() + arrow + 2, text.end()});
}

}  // namespace saltern::algorithms
