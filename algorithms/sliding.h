#pragma once
// Windows that slide along the axes of an image x(n, c, ...): where they stand, how often they fit, what they see.

#include "dsl/derivative.h"

namespace saltern::algorithms {

using namespace formula;

struct Slide {
  Expression stride = 1, dilation = 1, pad = 0;
  Expression pad_behind = {};  // undefined: as many as before
  Expression count = {};       // of positions; undefined: as many as fit
};

// One for each axis of the image, or one for all.
class Slides {
 public:
  Slides(const Slide &all) : each_{all} {}                     // NOLINT: one for all
  Slides(std::vector<Slide> each) : each_(std::move(each)) {}  // NOLINT
  Slides(const Slide &y, const Slide &x) : each_{y, x} {}
  const Slide &operator[](size_t axis) const { return each_.size() == 1 ? each_[0] : each_.at(axis); }

 private:
  std::vector<Slide> each_;
};

// Windows that stand where y(n, channels, ...) has elements.
inline Slides that_stand_at(const Slides &s, const Value &y) {
  std::vector<Slide> each;
  for (int d = 2; d < y.rank(); ++d) {
    each.push_back(s[static_cast<size_t>(d) - 2]);
    each.back().count = y.extent(d);
  }
  return each;
}

inline Expression behind(const Slide &s) { return s.pad_behind.defined() ? s.pad_behind : s.pad; }

inline Expression positions(const Expression &extent, const Expression &window, const Slide &s) {
  if (s.count.defined()) return s.count;
  return quotient(extent + s.pad + behind(s) - (window - 1) * s.dilation - 1, s.stride) + 1;
}

inline Expression source(const Expression &position, const Expression &k, const Slide &s) {
  return position * s.stride + k * s.dilation - s.pad;
}

// The first tap inside of the image of the window at a position, if any is.
inline Expression first_inside(const Expression &position, const Expression &window, const Slide &s) {
  return min(quotient(max(s.pad - position * s.stride, 0) + s.dilation - 1, s.dilation), window - 1);
}

// An element of the image as windows see it, those that may do so counted back from the last one: there are few, and one
// where windows are as long as their stride.
struct Sight {
  Expression position, tap;  // of the window, and of the element in it
  Expression is_seen;        // whether there is such a window, and it has such a tap
};
inline Expression sights(const Expression &window, const Slide &s) {
  return quotient((window - 1) * s.dilation, s.stride) + 1;
}
inline Sight sight(const Expression &element, const Expression &number, const Expression &window,
                   const Expression &positions, const Slide &s) {
  const Expression place = element + s.pad, offset = modulo(place, s.stride) + number * s.stride;
  const Expression position = quotient(place, s.stride) - number, tap = quotient(offset, s.dilation);
  return {position, tap, 0 <= position && position < positions && tap < window && modulo(offset, s.dilation) == 0};
}

// The extents of y(n, channels, ...), with an element for each position of a window.
inline std::vector<Expression> windows(const Value &x, const Expression &channels,
                                       const std::vector<Expression> &window, const Slides &s) {
  std::vector<Expression> extents = {x.extent(0), channels};
  for (size_t d = 0; d < window.size(); ++d)
    extents.push_back(positions(x.extent(static_cast<int>(d) + 2), window[d], s[d]));
  return extents;
}

// Where tap k of the window of y's element `at` lies in x, in a channel of it.
inline Axes tap_of(const Axes &at, const Expression &channel, const Axes &k, const Slides &s) {
  Axes from = {at[0], channel};
  for (size_t d = 0; d + 2 < at.size(); ++d) from.push_back(source(at[d + 2], k[d], s[d]));
  return from;
}

// What windows of x see, side by side: y(n, c, k..., p...).
inline Value columns(const Value &x, const std::vector<Expression> &window, const Slides &s) {
  std::vector<Expression> extents = windows(x, x.extent(1), window, s);
  extents.insert(extents.begin() + 2, window.begin(), window.end());
  const auto taps = static_cast<std::ptrdiff_t>(window.size());
  return compute("columns", extents, [&](const Axes &at) {
    const Axes k(at.begin() + 2, at.begin() + 2 + taps);
    Axes position = at;
    position.erase(position.begin() + 2, position.begin() + 2 + taps);
    return x.or_else(0, tap_of(position, at[1], k, s));
  });
}

// The image of these extents whose windows lie over each other, summed.
inline Value from_columns(const Value &y, const std::vector<Expression> &window, const Slides &s,
                          const std::vector<Expression> &extents) {
  return adjoint(extents, y, [&](const Value &image) { return columns(image, window, s); });
}

}  // namespace saltern::algorithms
