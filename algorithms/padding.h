#pragma once
// x with edges around it, or cut off where there are fewer elements than none: y(o...) = x(source(o - before)...)
//
//   constant   a number outside
//   reflect    the elements beyond the outermost one, which is not repeated
//   replicate  the outermost one
//   circular   from the other end of what is not cut off

#include <algorithm>
#include <map>
#include <string>

#include "dsl/value.h"

namespace saltern::algorithms {

using namespace formula;

struct Edges {
  int64_t before = 0, after = 0;  // below 0: so many are cut off
};

// Where an element that may be outside is taken from.
using EdgeSource = Expression (*)(const Expression &index, const Expression &extent, const Edges &);

// By their names; null: from nowhere.
inline const std::map<std::string, EdgeSource> &edge_sources() {
  static const std::map<std::string, EdgeSource> all = {
      {"constant", nullptr},
      {"reflect",
       [](const Expression &i, const Expression &n, const Edges &) { return (n - 1) - abs((n - 1) - abs(i)); }},
      {"replicate", [](const Expression &i, const Expression &n, const Edges &) { return min(max(i, 0), n - 1); }},
      {"circular",
       [](const Expression &i, const Expression &n, const Edges &e) {
         const int64_t first = std::max<int64_t>(-e.before, 0);
         return modulo(i - first, n - first - std::max<int64_t>(-e.after, 0)) + first;
       }},
  };
  return all;
}

// One pair of edges for each dimension.
inline Value padded(const Value &x, const std::vector<Edges> &edges, EdgeSource source, double otherwise = 0) {
  std::vector<Expression> extents = x.extents();
  for (size_t d = 0; d < extents.size(); ++d) extents[d] = extents[d] + edges[d].before + edges[d].after;
  return compute("padded", extents, [&](Axes at) {
    for (size_t d = 0; d < at.size(); ++d) {
      at[d] = at[d] - edges[d].before;
      const bool looks_outside = edges[d].before > 0 || edges[d].after > 0;
      if (source && looks_outside) at[d] = source(at[d], x.extent(static_cast<int>(d)), edges[d]);
    }
    return source ? x.at(at) : x.or_else(otherwise, at);
  });
}

}  // namespace saltern::algorithms
