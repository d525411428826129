#include "runtime/report/picture.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/report/font.h"

namespace saltern {

namespace {

constexpr int64_t max_side = 1 << 15;
constexpr double capital_steps = 6;  // from the first row of dots to the seventh
constexpr double glyph_gap = 2, space_width = 3;

const Glyph &glyph_of(char c) {
  return glyphs[static_cast<size_t>((c < first_glyph || c > last_glyph ? '?' : c) - first_glyph)];
}

bool dot(const Glyph &g, int column, int row) {
  return column >= 0 && column < 5 && row >= 0 && row < 8 && ((g[static_cast<size_t>(column)] >> row) & 1);
}

// The columns that have dots: [begin, end). Others are left out, which spaces the characters by their width.
std::pair<int, int> columns_of(const Glyph &g) {
  int begin = 0, end = 5;
  while (begin < end && !g[static_cast<size_t>(begin)]) ++begin;
  while (end > begin && !g[static_cast<size_t>(end - 1)]) --end;
  return {begin, end};
}

// From the start of a character to that of the next, in steps between dots.
double advance(char c) {
  const auto [begin, end] = columns_of(glyph_of(c));
  return begin == end ? space_width : end - 1 - begin + glyph_gap;
}

double distance(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const double t = length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0;
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

// Pixels [begin, end) that [low, high] touches.
std::pair<int64_t, int64_t> span(double low, double high, int64_t size) {
  const double limit = static_cast<double>(size);
  return {static_cast<int64_t>(std::clamp(std::floor(low), 0.0, limit)),
          static_cast<int64_t>(std::clamp(std::ceil(high) + 1, 0.0, limit))};
}

bool finite(Point p) { return std::isfinite(p.x) && std::isfinite(p.y); }

uint8_t mix(uint8_t below, uint8_t above, double share) {
  return static_cast<uint8_t>(std::lround(below + (above - below) * share));
}

}  // namespace

double text_width(std::string_view text, double size) {
  double steps = 0;
  for (char c : text) steps += advance(c);
  return text.empty() ? 0 : (steps - glyph_gap + 1) * size / capital_steps;
}

Canvas::Canvas(int64_t width, int64_t height, Colour background) {
  if (width < 1 || height < 1 || width > max_side || height > max_side)
    fail("a picture of ", width, " x ", height, " pixels; sides are 1 to ", max_side);
  pixels_ = Tensor::empty({height, width, 3}, Type::u8);
  rectangle(0, 0, width, height, background);
}

Colour Canvas::at(int64_t x, int64_t y) const {
  if (x < 0 || y < 0 || x >= width() || y >= height()) fail("pixel ", x, ", ", y, " is outside the picture");
  const uint8_t *p = pixel(x, y);
  return {p[0], p[1], p[2]};
}

void Canvas::rectangle(int64_t x, int64_t y, int64_t w, int64_t h, Colour colour) {
  const int64_t right = std::min(width(), x + w), bottom = std::min(height(), y + h);
  for (int64_t row = std::max<int64_t>(y, 0); row < bottom; ++row)
    for (int64_t column = std::max<int64_t>(x, 0); column < right; ++column) {
      uint8_t *p = pixel(column, row);
      p[0] = colour.red, p[1] = colour.green, p[2] = colour.blue;
    }
}

void Canvas::polyline(const std::vector<Point> &points, double thickness, Colour colour) {
  std::vector<Stroke> strokes;
  if (points.size() == 1) strokes.push_back({points[0], points[0]});
  for (size_t i = 1; i < points.size(); ++i) strokes.push_back({points[i - 1], points[i]});
  draw(strokes, thickness, colour);
}

// Neighbouring dots are joined by strokes; diagonal ones only where no other dot makes the corner.
void Canvas::text(Point at, std::string_view text, double size, Colour colour, Direction direction) {
  const double step = size / capital_steps;
  std::vector<Stroke> strokes;
  double offset = 0.5;
  for (char c : text) {
    const Glyph &g = glyph_of(c);
    const auto [begin, end] = columns_of(g);
    const auto place = [&, first = begin](int column, int row) -> Point {
      const double along = (offset + column - first) * step, across = row * step;
      return direction == Direction::right ? Point{at.x + along, at.y + across} : Point{at.x + across, at.y - along};
    };
    for (int column = begin; column < end; ++column)
      for (int row = 0; row < 8; ++row) {
        if (!dot(g, column, row)) continue;
        bool alone = true;
        for (const auto &[dx, dy] : {std::pair(1, 0), {0, 1}, {1, 1}, {1, -1}, {-1, 0}, {0, -1}, {-1, -1}, {-1, 1}}) {
          if (!dot(g, column + dx, row + dy)) continue;
          if (dx != 0 && dy != 0 && (dot(g, column + dx, row) || dot(g, column, row + dy))) continue;
          alone = false;
          strokes.push_back({place(column, row), place(column + dx, row + dy)});
        }
        if (alone) strokes.push_back({place(column, row), place(column, row)});
      }
    offset += advance(c);
  }
  draw(strokes, std::max(1.0, size / 7), colour);
}

void Canvas::picture(int64_t x, int64_t y, const Tensor &picture, int64_t scale) {
  const bool flat = picture.rank() == 2;
  if (picture.type() != Type::u8 || (!flat && picture.rank() != 3) || scale < 1 || scale > max_side ||
      (!flat && picture.extent(2) != 1 && picture.extent(2) != 3 && picture.extent(2) != 4))
    fail("cannot draw ", facts(picture.type()).name, to_string(picture.shape()), " at scale ", scale,
         "; a picture is u8 (height, width, 1, 3 or 4)");
  const Shape &strides = picture.strides();
  const int64_t second = flat || picture.extent(2) == 1 ? 0 : strides[2];  // grey repeats its only channel
  for (int64_t row = 0; row < picture.extent(0); ++row)
    for (int64_t column = 0; column < picture.extent(1); ++column) {
      const uint8_t *p = picture.data<uint8_t>() + row * strides[0] + column * strides[1];
      rectangle(x + column * scale, y + row * scale, scale, scale, {p[0], p[second], p[2 * second]});
    }
}

// All strokes are one shape: their coverage is united before it is painted, so that joints are not painted twice.
void Canvas::draw(const std::vector<Stroke> &strokes, double thickness, Colour colour) {
  const double radius = thickness / 2;
  double left = std::numeric_limits<double>::infinity(), right = -left, top = left, bottom = -left;
  for (const Stroke &s : strokes)
    for (const Point p : {s.from, s.to}) {
      if (!finite(s.from) || !finite(s.to)) continue;
      left = std::min(left, p.x), right = std::max(right, p.x);
      top = std::min(top, p.y), bottom = std::max(bottom, p.y);
    }
  if (left > right) return;
  const auto [x0, x1] = span(left - radius - 1, right + radius + 1, width());
  const auto [y0, y1] = span(top - radius - 1, bottom + radius + 1, height());
  if (x0 >= x1 || y0 >= y1) return;

  std::vector<float> coverage(static_cast<size_t>((x1 - x0) * (y1 - y0)), 0);
  for (const Stroke &s : strokes) {
    if (!finite(s.from) || !finite(s.to)) continue;
    const auto [cx0, cx1] =
        span(std::min(s.from.x, s.to.x) - radius - 1, std::max(s.from.x, s.to.x) + radius + 1, width());
    const auto [cy0, cy1] =
        span(std::min(s.from.y, s.to.y) - radius - 1, std::max(s.from.y, s.to.y) + radius + 1, height());
    for (int64_t y = cy0; y < cy1; ++y)
      for (int64_t x = cx0; x < cx1; ++x) {
        const Point centre = {static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5};
        const double covered = std::clamp(radius + 0.5 - distance(centre, s.from, s.to), 0.0, 1.0);
        float &c = coverage[static_cast<size_t>((y - y0) * (x1 - x0) + x - x0)];
        c = std::max(c, static_cast<float>(covered));
      }
  }
  for (int64_t y = y0; y < y1; ++y)
    for (int64_t x = x0; x < x1; ++x) {
      const double share = coverage[static_cast<size_t>((y - y0) * (x1 - x0) + x - x0)];
      uint8_t *p = pixel(x, y);
      p[0] = mix(p[0], colour.red, share), p[1] = mix(p[1], colour.green, share), p[2] = mix(p[2], colour.blue, share);
    }
}

}  // namespace saltern
