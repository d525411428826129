#pragma once
// Pooling of x(n, c, h, w) over windows of height x width; pixels outside take no part.

#include <limits>

#include "algorithms/sliding.h"

namespace saltern::algorithms {

using namespace formula;

inline Value max_pool2d(const Value &x, const Expression &height, const Expression &width, const Slide2d &s) {
  return compute(
      "max_pool2d", {x.extent(0), x.extent(1), positions(x.extent(2), height, s.y), positions(x.extent(3), width, s.x)},
      [&](Expression n, Expression c, Expression p, Expression q) {
        return greatest({height, width}, [&](Expression ky, Expression kx) {
          return x.or_else(-std::numeric_limits<double>::infinity(), {n, c, source(p, ky, s.y), source(q, kx, s.x)});
        });
      });
}

// The pixels of the window at (p, q) that lie inside, of an image of these extents; of a window beside it, 1.
inline Expression pixels_inside(const Expression &p, const Expression &q, const Expression &height,
                                const Expression &width, const Value &x, const Slide2d &s) {
  const auto along = [](const Expression &at, const Expression &window, const Expression &extent, const Slide &slide) {
    return sum({window}, [&](const Axes &k) {
      const Expression i = source(at, k[0], slide);
      return select(0 <= i && i < extent, Expression(1), Expression(0));
    });
  };
  return max(along(p, height, x.extent(2), s.y) * along(q, width, x.extent(3), s.x), 1);
}

// Divided by the whole window, or by what of it lies inside.
enum class Counts { all, inside };

inline Value average_pool2d(const Value &x, const Expression &height, const Expression &width, const Slide2d &s,
                            Counts counts = Counts::all) {
  return compute("average_pool2d",
                 {x.extent(0), x.extent(1), positions(x.extent(2), height, s.y), positions(x.extent(3), width, s.x)},
                 [&](Expression n, Expression c, Expression p, Expression q) {
                   const Expression all = sum({height, width}, [&](Expression ky, Expression kx) {
                     return x.or_zero(n, c, source(p, ky, s.y), source(q, kx, s.x));
                   });
                   return all / cast(x.type(),
                                     counts == Counts::all ? height * width : pixels_inside(p, q, height, width, x, s));
                 });
}

}  // namespace saltern::algorithms
