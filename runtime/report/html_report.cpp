#include "runtime/report/html_report.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "runtime/data/png.h"
#include "runtime/report/base64.h"

namespace saltern {

namespace {

constexpr const char *style =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:1000px;margin:2em auto;padding:0 1em;color:#2d343c}"
    "h2{margin-top:2em}table{border-collapse:collapse}td,th{padding:2px 10px;text-align:right;border:1px solid #e2e5e9}"
    "td:first-child,th:first-child{text-align:left}figure{display:inline-block;margin:6px;text-align:center;font-size:"
    "12px}"
    "img{image-rendering:pixelated}svg{margin:0 1em 1em 0}.confusion td{min-width:2.2em}";

std::string escaped(const std::string &text) {
  std::string all;
  for (const char c : text) {
    const char *entity = c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : nullptr;
    entity ? all += entity : all += c;
  }
  return all;
}

std::string css(Colour c) {
  return "rgb(" + std::to_string(c.red) + "," + std::to_string(c.green) + "," + std::to_string(c.blue) + ")";
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// Where numbers stand on an axis of a plot, in pixels.
struct Scale {
  Ticks ticks;
  double begin, end;
  double at(double v) const {
    return begin + (v - ticks.first) / std::max(ticks.last() - ticks.first, 1e-300) * (end - begin);
  }
};

void grow(double v, double &low, double &high) {
  if (!std::isfinite(v)) return;
  low = std::min(low, v);
  high = std::max(high, v);
}

std::string text_at(double x, double y, const char *anchor, const std::string &text) {
  return "<text x=\"" + fixed(x, 1) + "\" y=\"" + fixed(y, 1) + "\" text-anchor=\"" + anchor + "\">" + escaped(text) +
         "</text>";
}

std::string line(const Series &s, const Scale &x, const Scale &y) {
  std::string points, all;
  const auto close = [&] {
    if (!points.empty())
      all += "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" + css(s.colour) + "\" points=\"" + points + "\"/>";
    points.clear();
  };
  for (size_t i = 0; i < std::min(s.x.size(), s.y.size()); ++i) {
    if (!std::isfinite(s.x[i]) || !std::isfinite(s.y[i])) {
      close();
      continue;
    }
    if (s.style == Style::line) points += fixed(x.at(s.x[i]), 1) + "," + fixed(y.at(s.y[i]), 1) + " ";
    if (s.style == Style::points || s.x.size() == 1)
      all += "<circle r=\"3\" cx=\"" + fixed(x.at(s.x[i]), 1) + "\" cy=\"" + fixed(y.at(s.y[i]), 1) + "\" fill=\"" +
             css(s.colour) + "\"/>";
  }
  close();
  return all;
}

void section(std::ostream &out, const std::string &id, const std::string &title, const std::string &content) {
  if (!content.empty()) out << "<section id=\"" << id << "\">\n<h2>" << title << "</h2>\n" << content << "</section>\n";
}

std::string facts(const HtmlReport &r) {
  std::string rows;
  for (const auto &[name, value] : r.facts)
    rows += "<tr><td>" + escaped(name) + "</td><td>" + escaped(value) + "</td></tr>\n";
  return rows.empty() ? "" : "<table>\n" + rows + "</table>\n";
}

std::string confusion(const HtmlReport &r) {
  if (r.confusion.empty()) return {};
  const auto name = [&](size_t i) { return escaped(i < r.classes.size() ? r.classes[i] : std::to_string(i)); };
  std::string all = "<p>Rows are what it is, columns what was said.</p>\n<table class=\"confusion\">\n<tr><th></th>";
  for (size_t c = 0; c < r.confusion.size(); ++c) all += "<th>" + name(c) + "</th>";
  all += "</tr>\n";
  for (size_t row = 0; row < r.confusion.size(); ++row) {
    int64_t most = 1;
    for (const int64_t n : r.confusion[row]) most = std::max(most, n);
    all += "<tr><th>" + name(row) + "</th>";
    for (size_t c = 0; c < r.confusion[row].size(); ++c) {
      const int64_t n = r.confusion[row][c];
      const double share = static_cast<double>(n) / static_cast<double>(most);
      all += "<td style=\"background:rgba(" + std::string(row == c ? "26,135,66," : "203,36,49,") +
             fixed(0.7 * share, 2) + ")\">" + std::to_string(n) + "</td>";
    }
    all += "</tr>\n";
  }
  return all + "</table>\n";
}

std::string pictures(const std::vector<HtmlReport::Picture> &all, int64_t least_side) {
  std::string html;
  for (const HtmlReport::Picture &p : all) {
    html += "<figure>";
    if (p.pixels.defined()) {
      const int64_t scale = std::max<int64_t>(1, least_side / std::max<int64_t>(1, p.pixels.extent(1)));
      html += "<img alt=\"" + escaped(p.caption) + "\" width=\"" + std::to_string(p.pixels.extent(1) * scale) +
              "\" height=\"" + std::to_string(p.pixels.extent(0) * scale) + "\" src=\"data:image/png;base64," +
              base64(encode_png(p.pixels)) + "\">";
    }
    html += "<figcaption>" + escaped(p.caption) + "</figcaption></figure>\n";
  }
  return html;
}

std::string layers(const HtmlReport &r) {
  if (r.layers.empty()) return {};
  std::string all =
      "<table>\n<tr><th>layer</th><th>kind</th><th>result</th><th>parameters</th><th>bytes of the result</th>"
      "<th>milliseconds</th></tr>\n";
  for (const HtmlReport::Layer &l : r.layers)
    all += "<tr><td>" + escaped(l.name) + "</td><td>" + escaped(l.kind) + "</td><td>" + escaped(l.result) +
           "</td><td>" + std::to_string(l.parameters) + "</td><td>" + std::to_string(l.bytes) + "</td><td>" +
           fixed(l.milliseconds, 3) + "</td></tr>\n";
  return all + "</table>\n";
}

}  // namespace

Plot small_plot(const std::string &title, const std::string &x_label, const Series &series) {
  Plot plot;
  plot.title = title;
  plot.x_label = x_label;
  plot.series = {series};
  plot.width = 460;
  plot.height = 300;
  return plot;
}

std::vector<Plot> epoch_curves(const std::map<std::string, std::vector<double>> &epochs) {
  std::vector<Plot> all;
  const std::string prefix = "val_";
  for (const auto &[name, values] : epochs) {
    if (name.rfind(prefix, 0) == 0 && epochs.count(name.substr(prefix.size())) > 0) continue;
    std::vector<double> numbers;
    for (size_t e = 1; e <= values.size(); ++e) numbers.push_back(static_cast<double>(e));
    all.push_back(small_plot(name, "epoch", {name, numbers, values, colours::blue}));
    if (const auto validation = epochs.find(prefix + name); validation != epochs.end())
      all.back().series.push_back({validation->first, numbers, validation->second, colours::orange});
  }
  return all;
}

std::string to_svg(const Plot &plot) {
  constexpr double left = 60, right = 20, top = 30, bottom = 45;
  const auto width = static_cast<double>(plot.width), height = static_cast<double>(plot.height);
  double low_x = INFINITY, high_x = -INFINITY, low_y = INFINITY, high_y = -INFINITY;
  for (const Series &s : plot.series) {
    for (const double v : s.x) grow(v, low_x, high_x);
    for (const double v : s.y) grow(v, low_y, high_y);
  }
  if (!(low_x <= high_x) || !(low_y <= high_y)) low_x = low_y = 0, high_x = high_y = 1;
  const Scale x = {round_ticks(low_x, high_x, 6), left, width - right};
  const Scale y = {round_ticks(low_y, high_y, 5), height - bottom, top};
  std::ostringstream out;
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\"" << height
      << "\" viewBox=\"0 0 " << width << " " << height << "\" font-size=\"12\" fill=\"" << css(colours::ink)
      << "\" role=\"img\">\n<title>" << escaped(plot.title) << "</title>\n"
      << text_at(width / 2, 16, "middle", plot.title) << text_at(width / 2, height - 8, "middle", plot.x_label) << "\n";
  for (int i = 0; i < y.ticks.count; ++i) {
    const std::string at = fixed(y.at(y.ticks.at(i)), 1);
    out << "<path stroke=\"" << css(colours::light_grey) << "\" d=\"M" << left << " " << at << "H" << width - right
        << "\"/>" << text_at(left - 6, y.at(y.ticks.at(i)) + 4, "end", y.ticks.label(i)) << "\n";
  }
  for (int i = 0; i < x.ticks.count; ++i)
    out << text_at(x.at(x.ticks.at(i)), height - bottom + 18, "middle", x.ticks.label(i));
  double legend = left + 10;
  for (const Series &s : plot.series) {
    out << line(s, x, y) << "<circle r=\"4\" cx=\"" << legend << "\" cy=\"" << top + 4 << "\" fill=\"" << css(s.colour)
        << "\"/>" << text_at(legend + 8, top + 8, "start", s.name) << "\n";
    legend += 30 + 7.0 * static_cast<double>(s.name.size());
  }
  out << "</svg>\n";
  return out.str();
}

std::string to_html(const HtmlReport &r) {
  std::ostringstream out;
  out << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" << escaped(r.title)
      << "</title>\n<style>" << style << "</style>\n</head>\n<body>\n<h1>" << escaped(r.title) << "</h1>\n";
  std::string curves;
  for (const Plot &p : r.curves) curves += to_svg(p);
  section(out, "facts", "Facts", facts(r));
  section(out, "curves", "Curves", curves);
  section(out, "confusion", "Confusion matrix", confusion(r));
  section(out, "mistakes", "Worst mistakes", pictures(r.mistakes, 84));
  section(out, "filters", "Filters of the first layer", pictures(r.filters, 48));
  section(out, "activations", "What layers make of a sample", pictures(r.activations, 56));
  section(out, "layers", "Time and memory by layer", layers(r));
  out << "</body>\n</html>\n";
  return out.str();
}

}  // namespace saltern
