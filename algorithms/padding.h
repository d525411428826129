#pragma once
// x with edges around it, or cut off where there are fewer elements than none: y(o...) = x(source(o - before)...)
//
//   constant   a number outside
//   reflect    the elements beyond the outermost one, which is not repeated
//   replicate  the outermost one
//   circular   from the other end

#include <algorithm>
#include <map>
#include <string>

#include "dsl/value.h"

namespace saltern::algorithms {

using namespace formula;

struct Edges {
  int64_t before = 0, after = 0;  // below 0: so many are cut off
};

// Where element i of n is taken from, which may be outside; `far`, by n or more.
using EdgeSource = Expression (*)(const Expression &i, const Expression &n, bool far);

// By their names; null: from nowhere.
inline const std::map<std::string, EdgeSource> &edge_sources() {
  static const std::map<std::string, EdgeSource> all = {
      {"constant", nullptr},
      {"reflect",
       [](const Expression &i, const Expression &n, bool far) {
         if (!far) return (n - 1) - abs((n - 1) - abs(i));
         const Expression period = max(2 * (n - 1), 1), place = modulo(i, period);
         return min(place, period - place);
       }},
      {"replicate", [](const Expression &i, const Expression &n, bool) { return min(max(i, 0), n - 1); }},
      {"circular", [](const Expression &i, const Expression &n, bool) { return modulo(i, n); }},
  };
  return all;
}

// One pair of edges for each dimension. They see all of x, or only `kept` of it: what is not cut off.
enum class Seen : uint8_t { all, kept };
inline Value padded(const Value &x, const std::vector<Edges> &edges, EdgeSource source, Seen seen,
                    double otherwise = 0) {
  std::vector<Expression> extents = x.extents();
  for (size_t d = 0; d < extents.size(); ++d) extents[d] = extents[d] + edges[d].before + edges[d].after;
  return compute("padded", extents, [&](Axes at) {
    for (size_t d = 0; d < at.size(); ++d) {
      const Edges &e = edges[d];
      at[d] = at[d] - e.before;
      if (!source || (e.before <= 0 && e.after <= 0)) continue;
      const int64_t first = seen == Seen::kept ? std::max<int64_t>(-e.before, 0) : 0,
                    last = seen == Seen::kept ? std::max<int64_t>(-e.after, 0) : 0;
      at[d] = source(at[d] - first, x.extent(static_cast<int>(d)) - first - last, false) + first;
    }
    return source ? x.at(at) : x.or_else(otherwise, at);
  });
}

}  // namespace saltern::algorithms
