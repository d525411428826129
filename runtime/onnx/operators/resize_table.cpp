#include "runtime/onnx/operators/resize_table.h"
#include "runtime/onnx/operators/choices.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "runtime/error.h"
#include "runtime/tensor/element.h"

namespace saltern {

namespace {

// ---- Where an element of the result lies in x.

using Coordinate = double (*)(const ResizeAxis &, double);

// The result's extent before it was rounded to an integer.
double exact_extent(const ResizeAxis &a) { return a.scale * static_cast<double>(a.from); }
double last(const ResizeAxis &a) { return static_cast<double>(a.from - 1); }

double half_pixel(const ResizeAxis &a, double o) { return (o + 0.5) / a.scale - 0.5; }
double half_pixel_symmetric(const ResizeAxis &a, double o) {
  const double adjustment = static_cast<double>(a.to) / exact_extent(a);
  // In the order of the standard's text: rounding decides which element is the nearest to one that lies between two.
  return static_cast<double>(a.from) / 2 * (1 - adjustment) + (o + 0.5) / a.scale - 0.5;
}
double pytorch_half_pixel(const ResizeAxis &a, double o) { return a.to > 1 ? half_pixel(a, o) : 0; }
double align_corners(const ResizeAxis &a, double o) {
  return exact_extent(a) == 1 ? 0 : o * last(a) / (exact_extent(a) - 1);
}
double asymmetric(const ResizeAxis &a, double o) { return o / a.scale; }
double tf_half_pixel_for_nn(const ResizeAxis &a, double o) { return (o + 0.5) / a.scale; }
double tf_crop_and_resize(const ResizeAxis &a, double o) {
  if (exact_extent(a) == 1) return 0.5 * (a.begin + a.end) * last(a);
  return a.begin * last(a) + o * (a.end - a.begin) * last(a) / (exact_extent(a) - 1);
}

const std::map<std::string, Coordinate> &coordinates() {
  static const std::map<std::string, Coordinate> all = {
      {"align_corners", align_corners},
      {"asymmetric", asymmetric},
      {"half_pixel", half_pixel},
      {"half_pixel_symmetric", half_pixel_symmetric},
      {"pytorch_half_pixel", pytorch_half_pixel},
      {"tf_crop_and_resize", tf_crop_and_resize},
      {"tf_half_pixel_for_nn", tf_half_pixel_for_nn},
  };
  return all;
}

// ---- Which element is the nearest.

using Rounding = double (*)(double);

const std::map<std::string, Rounding> &roundings() {
  static const std::map<std::string, Rounding> all = {
      {"ceil", [](double x) { return std::ceil(x); }},
      {"floor", [](double x) { return std::floor(x); }},
      {"round_prefer_ceil", [](double x) { return std::floor(x + 0.5); }},
      {"round_prefer_floor", [](double x) { return std::ceil(x - 0.5); }},
  };
  return all;
}

// ---- Filters: the weight of an element at a distance, in elements.

double triangle(double distance) { return std::max(0.0, 1 - std::abs(distance)); }
// R. Keys, Cubic convolution interpolation for digital image processing, equation 4.
double keys(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

// Taps that the edge moved to one element share its weight by halves, whose products add up exactly: what lies beyond the
// edge is the same as what lies on it, and they are still equal when they are sorted.
void share_by_halves(const int64_t *elements, double *weights, int64_t taps) {
  for (int64_t begin = 0, end; begin < taps; begin = end) {
    double rest = weights[begin];
    for (end = begin + 1; end < taps && elements[end] == elements[begin]; ++end) rest += weights[end];
    for (int64_t t = begin; t + 1 < end; ++t) weights[t] = rest /= 2;
    weights[end - 1] = rest;
  }
}

}  // namespace

ResizeTable resize_table(const ResizeRule &rule, const ResizeAxis &axis) {
  const Coordinate coordinate = one_of(coordinates(), "coordinate_transformation_mode", rule.coordinates);
  const bool nearest = rule.mode == "nearest", cubic = rule.mode == "cubic";
  one_of({"nearest", "linear", "cubic"}, "mode", rule.mode);
  // Before opset 11 there was no choice: down where an axis grows, up where it shrinks.
  const std::string rounded = rule.rounding != "by_scale" ? rule.rounding : axis.scale < 1 ? "ceil" : "floor";
  const Rounding rounding = nearest ? one_of(roundings(), "nearest_mode", rounded) : nullptr;
  // A filter against aliasing is as much wider as the result is smaller.
  const double shrink = rule.antialias && !nearest ? std::min(axis.scale, 1.0) : 1;
  const int64_t first = integer_of(std::floor((cubic ? -2 : -1) / shrink)) + 1;
  if (first < -4 * (axis.from + 2)) fail("a scale of ", axis.scale, " for an extent of ", axis.from);

  ResizeTable table;
  table.taps = nearest ? 1 : 2 - 2 * first;
  for (int64_t o = 0; o < axis.to; ++o) {
    const double x = coordinate(axis, static_cast<double>(o));
    if (rule.coordinates == "tf_crop_and_resize") table.outside.push_back(x < 0 || x > last(axis));
    const auto clamped = [&](int64_t i) { return std::clamp<int64_t>(i, 0, axis.from - 1); };
    if (nearest) {
      table.elements.push_back(clamped(integer_of(rounding(x))));
      table.weights.push_back(1);
      continue;
    }
    const int64_t below = integer_of(std::floor(x));
    double sum = 0;
    for (int64_t t = 0; t < table.taps; ++t) {
      const int64_t i = below + first + t;
      const double distance = (static_cast<double>(i) - x) * shrink;
      const bool dropped = rule.exclude_outside && (i < 0 || i >= axis.from);
      table.elements.push_back(clamped(i));
      table.weights.push_back(dropped ? 0 : cubic ? keys(distance, rule.cubic) : triangle(distance));
      sum += table.weights.back();
    }
    double *weights = &table.weights[static_cast<size_t>(o * table.taps)];
    if (sum != 0)
      for (int64_t t = 0; t < table.taps; ++t) weights[t] /= sum;
    share_by_halves(&table.elements[static_cast<size_t>(o * table.taps)], weights, table.taps);
  }
  if (std::none_of(table.outside.begin(), table.outside.end(), [](bool b) { return b; })) table.outside.clear();
  return table;
}

}  // namespace saltern
