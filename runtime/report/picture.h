#pragma once
// Drawing into an RGB picture. Coordinates are in pixels from the top left corner; what lies outside is cut off.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace saltern {

struct Colour {
  uint8_t red, green, blue;
  bool operator==(const Colour &o) const { return red == o.red && green == o.green && blue == o.blue; }
};

namespace colours {
constexpr Colour white = {255, 255, 255}, black = {0, 0, 0}, ink = {45, 52, 60}, grey = {125, 133, 143},
                 light_grey = {226, 229, 233}, green = {26, 135, 66}, red = {203, 36, 49}, blue = {31, 111, 201},
                 orange = {226, 115, 20}, purple = {124, 77, 189};
}

struct Point {
  double x, y;
};

enum class Direction { right, up };

class Canvas {
 public:
  Canvas(int64_t width, int64_t height, Colour background = colours::white);

  int64_t width() const { return pixels_.extent(1); }
  int64_t height() const { return pixels_.extent(0); }
  // u8 (height, width, 3), as write_png takes it.
  const Tensor &pixels() const { return pixels_; }
  Colour at(int64_t x, int64_t y) const;

  void rectangle(int64_t x, int64_t y, int64_t width, int64_t height, Colour colour);
  // Anti-aliased, with round ends and joints. Points that are not finite leave a gap.
  void polyline(const std::vector<Point> &points, double thickness, Colour colour);
  void line(Point from, Point to, double thickness, Colour colour) { polyline({from, to}, thickness, colour); }
  // ASCII text whose capitals are `size` pixels high; `at` is the top left corner of the first capital, or the bottom
  // left one of text that runs up. Characters outside ASCII become '?'.
  void text(Point at, std::string_view text, double size, Colour colour, Direction direction = Direction::right);
  // A u8 picture (height, width) or (height, width, 1, 3 or 4; alpha is ignored), each pixel drawn scale x scale.
  void picture(int64_t x, int64_t y, const Tensor &picture, int64_t scale = 1);

 private:
  struct Stroke {
    Point from, to;
  };
  void draw(const std::vector<Stroke> &strokes, double thickness, Colour colour);
  uint8_t *pixel(int64_t x, int64_t y) const { return pixels_.data<uint8_t>() + 3 * (y * width() + x); }

  Tensor pixels_;
};

double text_width(std::string_view text, double size);

}  // namespace saltern
