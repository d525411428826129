#pragma once
// A picture of a graph: a box for each node, coloured by what kind of operation it is, arrows for the values between
// them. Constants stand as shapes in the boxes that read them.

#include <string>
#include <vector>

#include "runtime/graph/graph.h"

namespace saltern {

struct Drawing {
  // The rows of a table of colours; see drawing.cpp.
  enum class Kind : uint8_t { edge, product, normalization, reduction, elementwise, movement, control, other };

  struct Box {
    std::string title, detail, hint;  // the operation, its result's shape, all that is known
    Kind kind;
  };
  struct Line {
    size_t from, to;  // boxes; from < to
  };

  std::vector<Box> boxes;
  std::vector<Line> lines;
};

Drawing drawing_of(const Graph &graph);

// What Graphviz reads.
std::string to_dot(const Drawing &drawing);
// A picture of its own, with a legend.
std::string to_svg(const Drawing &drawing);

// A kind's name and colour, for legends.
struct KindFacts {
  Drawing::Kind kind;
  const char *name, *colour;
};
const std::vector<KindFacts> &drawing_kinds();

}  // namespace saltern
