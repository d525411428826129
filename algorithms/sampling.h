#pragma once
// Images x(n, c, ...) read between their elements.
//
// What lies outside is one image with the inside: filters reach across the edge, and read zeros, the nearest element,
// or the reflected one there. (So do PyTorch and ONNX Runtime. ONNX's reference moves places back to the border before
// it filters, which gives other values for cubic filters there.)
//
//   grid_sample   y(n, c, o...) = x(n, c) at grid(n, o..., r), whose coordinates are in [-1, 1], that of the last axis first;
//                 -1 and 1 are the outer edges of the outermost elements, or with aligned corners their centres
//   affine_grid   grid(n, o..., j) = sum over k of theta(n, j, k) p(o, k), p being such coordinates and 1

#include <algorithm>

#include "dsl/value.h"

namespace saltern::algorithms {

using namespace formula;

struct Interpolation {
  enum class Filter : uint8_t { nearest, linear, cubic };
  enum class Outside : uint8_t { zeros, border, reflection };

  Filter filter = Filter::linear;
  Outside outside = Outside::zeros;
  // Where reflection turns round: in the centres of the outermost elements, or at their outer edges.
  bool at_centres = false;
};

// Back into the image, turning round at both ends until it is inside.
inline Expression reflected(const Expression &index, const Expression &extent, bool at_centres) {
  const Expression period = 2 * (at_centres ? extent - 1 : extent);
  if (is_number(period, 0)) return 0;
  const Expression m = modulo(index, period);
  return select(m < extent, m, (at_centres ? period : period - 1) - m);
}

inline Expression tap_weight(Interpolation::Filter filter, const Expression &fraction, const Expression &tap) {
  if (filter == Interpolation::Filter::linear) return select(tap == 0, 1.0 - fraction, fraction);
  constexpr double a = -0.75;
  const Expression x = abs(fraction + 1.0 - cast(fraction.type(), tap));
  return select(x <= 1, ((x * (a + 2)) - (a + 3)) * x * x + 1.0, ((x * a - 5 * a) * x + 8 * a) * x - 4 * a);
}

// The element of x at whole coordinates, as the rule for the outside has it.
inline Expression at_whole(const Interpolation &how, const Value &x, const Expression &n, const Expression &c,
                           const Axes &place) {
  Axes at = {n, c};
  Expression inside = truth(true);
  for (size_t d = 0; d < place.size(); ++d) {
    const Expression &extent = x.extent(static_cast<int>(d) + 2);
    at.push_back(how.outside == Interpolation::Outside::reflection ? reflected(place[d], extent, how.at_centres)
                                                                   : max(min(place[d], extent - 1), 0));
    inside = inside && 0 <= place[d] && place[d] < extent;
  }
  return how.outside == Interpolation::Outside::zeros ? select(inside, x.at(at), constant(x.type(), 0)) : x.at(at);
}

// x(n, c) at a place of one coordinate for each further axis.
inline Expression interpolated(const Interpolation &how, const Value &x, const Expression &n, const Expression &c,
                               const Axes &place) {
  Axes base;
  if (how.filter == Interpolation::Filter::nearest) {
    for (const Expression &p : place) base.push_back(cast(Type::i64, call(Function::round, p)));
    return at_whole(how, x, n, c, base);
  }
  const int taps = how.filter == Interpolation::Filter::linear ? 2 : 4;
  for (const Expression &p : place) base.push_back(cast(Type::i64, floor(p)) - (taps / 2 - 1));
  return sum(std::vector<Expression>(place.size(), taps), [&](const Axes &k) {
    Axes at;
    Expression weight = constant(x.type(), 1);
    for (size_t d = 0; d < place.size(); ++d) {
      at.push_back(base[d] + k[d]);
      const Expression w = cast(x.type(), tap_weight(how.filter, place[d] - floor(place[d]), k[d]));
      weight = d == 0 ? w : weight * w;
    }
    return at_whole(how, x, n, c, at) * weight;
  });
}

inline Value grid_sample(const Value &x, const Value &grid, const Interpolation &how = {}, bool aligned = false) {
  std::vector<Expression> extents = grid.extents();
  extents.back() = x.extent(1);
  std::rotate(extents.begin() + 1, extents.end() - 1, extents.end());
  return compute("grid_sample", extents, [&](const Axes &at) {
    Axes place, from = at;
    from.erase(from.begin() + 1);
    for (int d = 2; d < x.rank(); ++d) {
      from.push_back(x.rank() - 1 - d);
      const Expression v = grid.at(from) + 1.0, extent = cast(grid.type(), x.extent(d));
      place.push_back(aligned ? v * 0.5 * (extent - 1.0) : (v * extent - 1.0) * 0.5);
      from.pop_back();
    }
    return interpolated(how, x, at[0], at[1], place);
  });
}

// For images of these extents along their last axes.
inline Value affine_grid(const Value &theta, const std::vector<Expression> &image, bool aligned) {
  const auto rank = static_cast<int>(image.size());
  std::vector<Expression> extents = image;
  extents.insert(extents.begin(), theta.extent(0));
  extents.push_back(rank);
  return compute("affine_grid", extents, [&](const Axes &at) {
    Expression all = theta(at[0], at.back(), rank);
    for (int k = 0; k < rank; ++k) {
      const auto d = static_cast<size_t>(rank - k);  // the last axis comes first
      const Expression o = cast(theta.type(), at[d]), extent = cast(theta.type(), extents[d]);
      const Expression place = !aligned                   ? (o * 2.0 + 1.0) / extent - 1.0
                               : is_number(extents[d], 1) ? o * 0.0
                                                          : o * 2.0 / (extent - 1.0) - 1.0;
      all = all + theta(at[0], at.back(), k) * place;
    }
    return all;
  });
}

// To height x width, as align_corners=False does, the edge repeated.
inline Value resize_bilinear(const Value &x, const Expression &height, const Expression &width) {
  const auto place = [&](const Expression &i, const Expression &from, const Expression &to) {
    return (cast(x.type(), i) + 0.5) * (cast(x.type(), from) / cast(x.type(), to)) - 0.5;
  };
  const Interpolation how = {Interpolation::Filter::linear, Interpolation::Outside::border};
  return compute("resize_bilinear", {x.extent(0), x.extent(1), height, width}, [&](const Axes &at) {
    return interpolated(how, x, at[0], at[1], {place(at[2], x.extent(2), height), place(at[3], x.extent(3), width)});
  });
}

}  // namespace saltern::algorithms
