#pragma once
// Pooling of x(n, c, h, w) over windows of height x width; pixels outside take no part.

#include <limits>

#include "algorithms/sliding.h"

namespace saltern::algorithms {

using namespace formula;

inline Value max_pool2d(const Value &x, const Expression &height, const Expression &width, const Slide &s) {
  return compute(
      "max_pool2d", {x.extent(0), x.extent(1), positions(x.extent(2), height, s), positions(x.extent(3), width, s)},
      [&](Expression n, Expression c, Expression p, Expression q) {
        return greatest({height, width}, [&](Expression ky, Expression kx) {
          return x.or_else(-std::numeric_limits<double>::infinity(), {n, c, source(p, ky, s), source(q, kx, s)});
        });
      });
}

// Divided by the whole window.
inline Value average_pool2d(const Value &x, const Expression &height, const Expression &width, const Slide &s) {
  return compute("average_pool2d",
                 {x.extent(0), x.extent(1), positions(x.extent(2), height, s), positions(x.extent(3), width, s)},
                 [&](Expression n, Expression c, Expression p, Expression q) {
                   const Expression all = sum({height, width}, [&](Expression ky, Expression kx) {
                     return x.or_zero(n, c, source(p, ky, s), source(q, kx, s));
                   });
                   return all / cast(x.type(), height * width);
                 });
}

}  // namespace saltern::algorithms
