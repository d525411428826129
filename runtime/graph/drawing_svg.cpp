// A drawing as SVG: the boxes and arrows where layered_layout.h puts them.

#include <algorithm>
#include <cstdio>

#include "runtime/graph/drawing.h"
#include "runtime/graph/layered_layout.h"

namespace saltern {

namespace {

constexpr double title_pixels = 7.6, detail_pixels = 6.0, padding = 12, line_height = 16, legend_height = 44;
constexpr size_t longest_text = 40;

// A name may hold anything: what XML forbids becomes a question mark, and so does a broken character.
std::string escaped(const std::string &text) {
  std::string all;
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t length = c < 0x80                ? 1
                          : c >= 0xc2 && c < 0xe0 ? 2
                          : c >= 0xe0 && c < 0xf0 ? 3
                          : c >= 0xf0 && c < 0xf5 ? 4
                                                  : 0;
    bool good = length > 0 && i + length <= text.size() && (c >= 0x20 || c == '\n');
    for (size_t k = 1; good && k < length; ++k) good = (static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80;
    if (!good) {
      all += '?';
      ++i;
      continue;
    }
    const char *name = c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : nullptr;
    all += name ? name : text.substr(i, length);
    i += length;
  }
  return all;
}

size_t characters(const std::string &text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// The end of a long name tells more than its beginning.
std::string shortened(const std::string &text) {
  if (characters(text) <= longest_text) return text;
  size_t at = text.size();
  for (size_t kept = 0; at > 0 && kept + 1 < longest_text;)
    if ((static_cast<unsigned char>(text[--at]) & 0xc0) != 0x80) ++kept;
  return "…" + text.substr(at);
}

BoxSize size_of(const Drawing::Box &b) {
  const double text = std::max(title_pixels * static_cast<double>(characters(shortened(b.title))),
                               detail_pixels * static_cast<double>(characters(shortened(b.detail))));
  return {text + 2 * padding, (b.detail.empty() ? 1 : 2) * line_height + padding};
}

template <typename... Numbers>
std::string format(const char *pattern, Numbers... numbers) {
  char text[300];
  std::snprintf(text, sizeof text, pattern, numbers...);
  return text;
}

std::string arrow(const PlacedBox &from, const PlacedBox &to, const std::vector<Waypoint> &way) {
  double x = from.x + from.width / 2, y = from.y + from.height;
  std::string path = format("M%.1f %.1f", x, y);
  const auto bend = [&](double to_x, double to_y) {
    const double middle = (y + to_y) / 2;
    path += format("C%.1f %.1f %.1f %.1f %.1f %.1f", x, middle, to_x, middle, to_x, to_y);
    x = to_x;
    y = to_y;
  };
  for (const Waypoint &w : way) {
    bend(w.x, w.top);
    path += format("V%.1f", w.bottom);
    y = w.bottom;
  }
  bend(to.x + to.width / 2, to.y - 5);  // the head takes the rest
  return "<path d=\"" + path + "\"/>\n";
}

std::string box(const PlacedBox &p, const Drawing::Box &b) {
  const KindFacts &kind = drawing_kinds()[static_cast<size_t>(b.kind)];
  const double middle = p.x + p.width / 2, radius = b.kind == Drawing::Kind::edge ? p.height / 2 : 5;
  std::string text = "<g><title>" + escaped(b.hint) + "</title>" +
                     format("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%.1f\" fill=\"%s\"/>", p.x,
                            p.y, p.width, p.height, radius, kind.colour) +
                     format("<text x=\"%.1f\" y=\"%.1f\">", middle, p.y + padding / 2 + line_height * 0.75) +
                     escaped(shortened(b.title)) + "</text>";
  if (!b.detail.empty())
    text += format("<text class=\"detail\" x=\"%.1f\" y=\"%.1f\">", middle, p.y + padding / 2 + line_height * 1.7) +
            escaped(shortened(b.detail)) + "</text>";
  return text + "</g>\n";
}

std::string legend(double y) {
  std::string text = "<g class=\"legend\">";
  double x = 20;
  for (const KindFacts &k : drawing_kinds()) {
    text +=
        format("<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" rx=\"2\" fill=\"%s\"/>", x, y + 16, k.colour) +
        format("<text class=\"detail\" x=\"%.1f\" y=\"%.1f\">%s</text>", x + 18, y + 26, k.name);
    x += 18 + detail_pixels * static_cast<double>(std::string(k.name).size()) + 22;
  }
  return text + "</g>\n";
}

double legend_width() {
  double width = 20;
  for (const KindFacts &k : drawing_kinds())
    width += 40 + detail_pixels * static_cast<double>(std::string(k.name).size());
  return width;
}

}  // namespace

std::string to_svg(const Drawing &drawing) {
  std::vector<BoxSize> sizes;
  std::vector<Arrow> arrows;
  for (const Drawing::Box &b : drawing.boxes) sizes.push_back(size_of(b));
  for (const Drawing::Line &l : drawing.lines) arrows.push_back({l.from, l.to});
  const LayeredLayout layout = layered_layout(sizes, arrows);

  const double width = std::max(layout.width, legend_width()), height = layout.height + legend_height;
  std::string text =
      format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n",
             width, height, width, height) +
      "<style>text{font:13px sans-serif;text-anchor:middle;fill:#222}.detail{font-size:11px;fill:#555}"
      ".legend text{text-anchor:start}rect{stroke:#889;stroke-width:.8}"
      "path{fill:none;stroke:#667;stroke-width:1.2;marker-end:url(#head)}</style>\n"
      "<defs><marker id=\"head\" markerWidth=\"7\" markerHeight=\"7\" refX=\"1\" refY=\"3\" orient=\"auto\" "
      "markerUnits=\"userSpaceOnUse\"><polygon points=\"0 0 6 3 0 6\" fill=\"#667\"/></marker></defs>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\" style=\"stroke:none\"/>\n" +
      legend(0) + format("<g transform=\"translate(%.1f %.1f)\">\n", (width - layout.width) / 2, legend_height);
  for (size_t i = 0; i < arrows.size(); ++i)
    text += arrow(layout.boxes[arrows[i].from], layout.boxes[arrows[i].to], layout.ways[i]);
  for (size_t i = 0; i < drawing.boxes.size(); ++i) text += box(layout.boxes[i], drawing.boxes[i]);
  return text + "</g>\n</svg>\n";
}

}  // namespace saltern
