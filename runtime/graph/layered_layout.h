#pragma once
// Where the boxes and arrows of a picture of a graph stand: layer under layer, every arrow downwards, as few arrows that
// cross and as straight ones as a few sweeps find. (Sugiyama's method: layers by the longest way, order by barycentres,
// places by least squares.)
//
// The cost is that of a few sorts, and bounded: arrows over many layers get places between boxes as long as there are
// not many more of these than of boxes; beyond that they go straight.

#include <cstddef>
#include <vector>

namespace saltern {

struct BoxSize {
  double width, height;
};

struct PlacedBox {
  double x, y, width, height;  // the upper left corner
};

struct Waypoint {
  double x, top, bottom;  // an arrow goes straight down from top to bottom
};

struct Arrow {
  size_t from, to;  // boxes; from < to
};

struct LayeredLayout {
  std::vector<PlacedBox> boxes;
  std::vector<std::vector<Waypoint>> ways;  // of each arrow, between its boxes
  double width = 0, height = 0;
};

LayeredLayout layered_layout(const std::vector<BoxSize> &boxes, const std::vector<Arrow> &arrows);

}  // namespace saltern
