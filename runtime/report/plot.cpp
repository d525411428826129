#include "runtime/report/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace saltern {

namespace {

constexpr double title_size = 18, label_size = 14, tick_size = 12;
constexpr double margin = 24, gap = 10, line_height = 28;

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double v) {
    if (!std::isfinite(v)) return;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  bool empty() const { return low > high; }
  Ticks ticks(int count) const { return empty() ? round_ticks(0, 1, count) : round_ticks(low, high, count); }
};

double widest_label(const Ticks &t) {
  double widest = 0;
  for (int i = 0; i < t.count; ++i) widest = std::max(widest, text_width(t.label(i), tick_size));
  return widest;
}

// The rectangle that data is drawn in, and how values map to it.
struct Frame {
  double left, top, right, bottom;
  double x(const Range &r, double v) const { return left + (v - r.low) / (r.high - r.low) * (right - left); }
  double y(const Ticks &t, double v) const { return bottom - (v - t.first) / (t.last() - t.first) * (bottom - top); }
};

int64_t pixel(double v) { return std::llround(v); }

void draw_axis(Canvas &c, const Frame &f, const Ticks &t, Axis axis, const std::string &label, Colour colour) {
  const double widest = widest_label(t);
  for (int i = 0; i < t.count; ++i) {
    const double y = f.y(t, t.at(i));
    const std::string text = t.label(i);
    const double width = text_width(text, tick_size);
    c.text({axis == Axis::left ? f.left - gap - width : f.right + gap, y - tick_size / 2}, text, tick_size, colour);
  }
  const double middle = (f.top + f.bottom + text_width(label, label_size)) / 2;
  const double x = axis == Axis::left ? f.left - 2 * gap - widest - label_size : f.right + 2 * gap + widest;
  c.text({x, middle}, label, label_size, colour, Direction::up);
}

// From right to left, the last first.
void draw_legend(Canvas &c, const Plot &plot, const Frame &f) {
  constexpr double sample = 26;
  const double y = f.top - line_height + 4, middle = y + label_size / 2;
  double x = f.right;
  const auto add = [&](const std::string &name, double begin, double thickness, Colour colour) {
    if (name.empty()) return;
    x -= text_width(name, label_size) + gap;
    c.text({x + gap, y}, name, label_size, colours::ink);
    c.line({x - begin, middle}, {x - sample + begin, middle}, thickness, colour);
    x -= sample + 2 * gap;
  };
  for (auto s = plot.series.rbegin(); s != plot.series.rend(); ++s) {
    const bool points = s->style == Style::points;
    add(s->name, points ? sample / 2 : 0, points ? s->thickness : 3, s->colour);
  }
  for (auto b = plot.bands.rbegin(); b != plot.bands.rend(); ++b) add(b->name, label_size / 2, label_size, b->colour);
}

// The height of a line at x, which goes through points in ascending order; NaN outside.
double height_at(const std::vector<double> &xs, const std::vector<double> &ys, double x) {
  const size_t next = static_cast<size_t>(std::upper_bound(xs.begin(), xs.end(), x) - xs.begin());
  if (next == 0 || xs.empty()) return std::numeric_limits<double>::quiet_NaN();
  if (next == xs.size()) return x == xs.back() ? ys.back() : std::numeric_limits<double>::quiet_NaN();
  const double share = (x - xs[next - 1]) / (xs[next] - xs[next - 1]);
  return ys[next - 1] + share * (ys[next] - ys[next - 1]);
}

void draw_band(Canvas &c, const Frame &f, const Range &x, const Ticks &left, const Band &band) {
  for (int64_t column = pixel(f.left); column <= pixel(f.right); ++column) {
    const double at = x.low + (static_cast<double>(column) - f.left) / (f.right - f.left) * (x.high - x.low);
    const double low = height_at(band.x, band.low, at), high = height_at(band.x, band.high, at);
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    const int64_t top = pixel(f.y(left, high)), bottom = pixel(f.y(left, low));
    c.rectangle(column, top, 1, bottom - top, band.colour);
  }
}

// An axis that serves one colour of series takes it; otherwise it is neutral.
Colour axis_colour(const Plot &plot, Axis axis) {
  const Series *only = nullptr;
  for (const Series &s : plot.series) {
    if (s.axis != axis || s.name.empty()) continue;
    if (only && !(only->colour == s.colour)) return colours::ink;
    only = &s;
  }
  return only ? only->colour : colours::ink;
}

}  // namespace

std::string Ticks::label(int i) const {
  const double value = std::fabs(at(i)) < step * 1e-9 ? 0 : at(i);
  const double largest = std::max(std::fabs(first), std::fabs(last()));
  std::array<char, 64> text = {};
  if (largest >= 1e6 || largest < 1e-4) {
    std::snprintf(text.data(), text.size(), "%.3g", value);
  } else {
    const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 8);
    std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  }
  return text.data();
}

Ticks round_ticks(double low, double high, int count) {
  if (!(high - low > 1e-12 * std::max(std::fabs(low), std::fabs(high)))) {
    const double room = low == 0 ? 1 : std::fabs(low) / 2;
    low -= room;
    high += room;
  }
  const double wanted = (high / 2 - low / 2) / std::max(count - 1, 1) * 2;
  const double power = std::pow(10, std::floor(std::log10(wanted)));
  double step = 10 * power;
  for (double s : {1.0, 2.0, 5.0})
    if (s * power >= wanted * 0.999) {
      step = s * power;
      break;
    }
  Ticks t;
  t.step = step;
  t.first = std::floor(low / step + 1e-9) * step;
  // high - t.first may be infinite; only what has been clamped fits an int.
  t.count = 1 + static_cast<int>(std::clamp(std::ceil(high / step - t.first / step - 1e-9), 1.0, 50.0));
  return t;
}

Canvas draw(const Plot &plot) {
  Canvas c(plot.width, plot.height);
  Range x, left, right;
  for (const Series &s : plot.series) {
    if (s.x.size() != s.y.size())
      fail("plot: series '", s.name, "' has ", s.x.size(), " x and ", s.y.size(), " y values");
    for (double v : s.x) x.add(v);
    for (double v : s.y) (s.axis == Axis::left ? left : right).add(v);
  }
  for (const Band &b : plot.bands) {
    if (b.x.size() != b.low.size() || b.x.size() != b.high.size() || !std::is_sorted(b.x.begin(), b.x.end()))
      fail("plot: band '", b.name, "' has ", b.x.size(), " x, ", b.low.size(), " low and ", b.high.size(),
           " high values; expected as many of each, x in ascending order");
    for (double v : b.x) x.add(v);
    for (double v : b.low) left.add(v);
    for (double v : b.high) left.add(v);
  }
  if (x.empty()) x = {0, 1};
  if (x.low == x.high) x = {x.low - 0.5, x.high + 0.5};
  const Ticks left_ticks = left.ticks(6), right_ticks = right.ticks(6);

  Frame f = {margin + label_size + 2 * gap + widest_label(left_ticks), margin + title_size + line_height + gap,
             static_cast<double>(plot.width) - margin, static_cast<double>(plot.height) - margin - 2 * line_height};
  if (!right.empty()) f.right -= label_size + 2 * gap + widest_label(right_ticks);
  if (f.right - f.left < 50 || f.bottom - f.top < 50) fail("plot: ", plot.width, " x ", plot.height, " is too small");

  c.text({f.left, margin - 4}, plot.title, title_size, colours::ink);
  for (const Band &b : plot.bands) draw_band(c, f, x, left_ticks, b);
  for (int i = 0; i < left_ticks.count; ++i)
    c.rectangle(pixel(f.left), pixel(f.y(left_ticks, left_ticks.at(i))), pixel(f.right - f.left), 1,
                colours::light_grey);
  c.rectangle(pixel(f.left), pixel(f.bottom), pixel(f.right - f.left), 2, colours::grey);

  const Ticks x_ticks = round_ticks(x.low, x.high, 9);
  for (int i = 0; i < x_ticks.count; ++i) {
    if (x_ticks.at(i) < x.low - 1e-9 * x_ticks.step || x_ticks.at(i) > x.high + 1e-9 * x_ticks.step) continue;
    const std::string text = x_ticks.label(i);
    const double at = f.x(x, x_ticks.at(i));
    c.rectangle(pixel(at) - 1, pixel(f.bottom), 2, 6, colours::grey);
    c.text({at - text_width(text, tick_size) / 2, f.bottom + gap + 4}, text, tick_size, colours::ink);
  }
  c.text({(f.left + f.right - text_width(plot.x_label, label_size)) / 2, f.bottom + gap + line_height}, plot.x_label,
         label_size, colours::ink);
  draw_axis(c, f, left_ticks, Axis::left, plot.left_label, axis_colour(plot, Axis::left));
  if (!right.empty()) draw_axis(c, f, right_ticks, Axis::right, plot.right_label, axis_colour(plot, Axis::right));

  for (const Series &s : plot.series) {
    std::vector<Point> points;
    for (size_t i = 0; i < s.x.size(); ++i)
      points.push_back({f.x(x, s.x[i]), f.y(s.axis == Axis::left ? left_ticks : right_ticks, s.y[i])});
    if (s.style == Style::line)
      c.polyline(points, s.thickness, s.colour);
    else
      for (const Point p : points) c.polyline({p}, s.thickness, s.colour);
  }
  draw_legend(c, plot, f);
  return c;
}

}  // namespace saltern
