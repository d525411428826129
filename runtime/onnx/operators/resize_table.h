#pragma once
// Resizing along one axis, as a table: which elements each element of the result is made of, and with which weights.
//
//   y(o) = sum over t of weights(o, t) x(elements(o, t))
//
// Everything that Resize's attributes say about coordinates, rounding, edges and filters ends up in the numbers of the
// table. Axes are independent of each other: a tensor is resized one axis after another.

#include <cstdint>
#include <string>
#include <vector>

namespace saltern {

struct ResizeRule {
  std::string mode = "nearest";            // nearest, linear or cubic
  std::string coordinates = "half_pixel";  // coordinate_transformation_mode
  std::string rounding = "round_prefer_floor";
  double cubic = -0.75;
  bool antialias = false, exclude_outside = false;
};

struct ResizeAxis {
  int64_t from, to;           // extents
  double scale;               // as it was given, or to / from
  double begin = 0, end = 1;  // the region of interest, for tf_crop_and_resize
};

struct ResizeTable {
  int64_t taps = 1;
  std::vector<int64_t> elements;  // (to, taps), within the axis
  std::vector<double> weights;    // (to, taps)
  std::vector<bool> outside;      // (to): the value is the extrapolated one; empty where none is
};

// Throws where a word of the rule is unknown.
ResizeTable resize_table(const ResizeRule &rule, const ResizeAxis &axis);

}  // namespace saltern
