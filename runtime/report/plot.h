#pragma once
// Plots of lines, points and bands with a left and a right axis: loss and accuracy over steps, for example.

#include <string>
#include <vector>

#include "runtime/report/picture.h"

namespace saltern {

enum class Axis { left, right };
enum class Style { line, points };

struct Series {
  std::string name;  // in the legend; none if empty
  std::vector<double> x, y;
  Colour colour = colours::blue;
  Axis axis = Axis::left;
  double thickness = 2.5;  // of points the diameter
  Style style = Style::line;
};

// What lies between two lines, below all series; on the left axis.
struct Band {
  std::string name;                  // in the legend; none if empty
  std::vector<double> x, low, high;  // x in ascending order
  Colour colour = colours::light_grey;
};

struct Plot {
  std::string title, x_label, left_label, right_label;
  std::vector<Series> series;  // values that are not finite leave gaps
  int64_t width = 960, height = 540;
  std::vector<Band> bands = {};  // a later one is drawn over those before
};

Canvas draw(const Plot &plot);

// Round numbers (1, 2 or 5 times a power of ten), about `count` of them, that cover [low, high].
struct Ticks {
  double first = 0, step = 1;
  int count = 2;
  double at(int i) const { return first + i * step; }
  double last() const { return at(count - 1); }
  std::string label(int i) const;
};
Ticks round_ticks(double low, double high, int count);

}  // namespace saltern
