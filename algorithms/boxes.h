#pragma once
// Boxes (..., 4) = (x1, y1, x2, y2), and how much of two is shared.
//
//   overlap        i / u: the area that both have over that which one of them has
//   generalized    less the share that neither has of the box around both
//   distance       less the squared distance of centres over the squared diagonal of that box
//   complete       less a v besides, v = (4 / pi^2) (difference of arctan(width / height))^2, a = v / (1 - i / u + v)
//
// Of pairs of equal places, or, with axes apart, of all pairs: operands broadcast.

#include <cmath>

#include "dsl/value.h"

namespace saltern::algorithms {

using namespace formula;

// One number of each box: of boxes (..., 4) the tensor (...).
inline Value of_boxes(const Value &boxes, int column) {
  std::vector<Expression> extents = boxes.extents();
  extents.pop_back();
  return inlined(extents, [&](Axes at) {
    at.emplace_back(column);
    return boxes.at(at);
  });
}

// The same with an axis of extent 1 behind or before the others.
inline Value with_axis(const Value &x, int axis) {
  std::vector<Expression> extents = x.extents();
  extents.insert(extents.begin() + axis, Expression(1));
  return inlined(extents, [&](Axes at) {
    at.erase(at.begin() + axis);
    return x.at(at);
  });
}

struct Box {
  Value x1, y1, x2, y2;

  Value width() const { return x2 - x1; }
  Value height() const { return y2 - y1; }
  Value area() const { return width() * height(); }
};
inline Box box_of(const Value &boxes) {
  return {of_boxes(boxes, 0), of_boxes(boxes, 1), of_boxes(boxes, 2), of_boxes(boxes, 3)};
}
// The four numbers of each box as one tensor (..., 4).
inline Value joined(const Value &a, const Value &b, const Value &c, const Value &d) {
  std::vector<Expression> extents = a.extents();
  extents.emplace_back(4);
  return inlined(extents, [&](Axes at) {
    const Expression column = at.back();
    at.pop_back();
    return select(column < 2, select(column == 0, a.at(at), b.at(at)), select(column == 2, c.at(at), d.at(at)));
  });
}

// Other ways to write a box, each from and to its corners.
struct BoxFormat {
  const char *name;
  Box (*read)(const Value &boxes);
  Value (*write)(const Box &);
};
inline const BoxFormat box_formats[] = {
    {"xyxy", box_of, [](const Box &b) { return joined(b.x1, b.y1, b.x2, b.y2); }},
    {"xywh",
     [](const Value &v) {
       const Box b = box_of(v);
       return Box{b.x1, b.y1, b.x1 + b.x2, b.y1 + b.y2};
     },
     [](const Box &b) { return joined(b.x1, b.y1, b.width(), b.height()); }},
    {"cxcywh",
     [](const Value &v) {
       const Box b = box_of(v);
       return Box{b.x1 - b.x2 * 0.5, b.y1 - b.y2 * 0.5, b.x1 + b.x2 * 0.5, b.y1 + b.y2 * 0.5};
     },
     [](const Box &b) { return joined((b.x1 + b.x2) * 0.5, (b.y1 + b.y2) * 0.5, b.width(), b.height()); }},
};

inline Box with_axis(const Box &b, int axis) {
  return {with_axis(b.x1, axis), with_axis(b.y1, axis), with_axis(b.x2, axis), with_axis(b.y2, axis)};
}

struct Overlap {
  Value shared, all;  // areas that both have, and that one of them has
  Box around;

  // A loss adds an epsilon to what it divides by.
  Value ratio(double epsilon = 0) const { return shared / (epsilon == 0 ? all : all + epsilon); }
};
inline Overlap overlap_of(const Box &a, const Box &b) {
  const Value shared = max(min(a.x2, b.x2) - max(a.x1, b.x1), 0) * max(min(a.y2, b.y2) - max(a.y1, b.y1), 0);
  return {shared, a.area() + b.area() - shared,
          Box{min(a.x1, b.x1), min(a.y1, b.y1), max(a.x2, b.x2), max(a.y2, b.y2)}};
}

inline Value generalized_overlap(const Overlap &o, double epsilon = 0) {
  const Value area = o.around.area();
  return o.ratio(epsilon) - (area - o.all) / (epsilon == 0 ? area : area + epsilon);
}

// `epsilon` is beside the diagonal always, beside areas in losses.
inline Value distance_overlap(const Box &a, const Box &b, const Overlap &o, double epsilon, double beside_areas) {
  const Value w = o.around.width(), h = o.around.height();
  const Value dx = (a.x1 + a.x2 - b.x1 - b.x2) * 0.5, dy = (a.y1 + a.y2 - b.y1 - b.y2) * 0.5;
  return o.ratio(beside_areas) - (dx * dx + dy * dy) / (w * w + h * h + epsilon);
}

// In a loss, no gradient goes through the weight of v.
inline Value complete_overlap(const Box &a, const Box &b, const Overlap &o, double epsilon, double beside_areas) {
  const auto angle = [](const Box &box) { return map(Function::arctangent, box.width() / box.height()); };
  const Value d = angle(a) - angle(b), v = d * d * (4 / (M_PI * M_PI));
  return distance_overlap(a, b, o, epsilon, beside_areas) -
         stop_gradient(v / (1 - o.ratio(beside_areas) + v + epsilon)) * v;
}

}  // namespace saltern::algorithms
