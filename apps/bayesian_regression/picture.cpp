#include "apps/bayesian_regression/picture.h"

#include <algorithm>
#include <cmath>

#include "runtime/data/png.h"
#include "runtime/report/plot.h"

namespace saltern {

namespace {

constexpr Colour for_line = {172, 201, 237}, for_data = {222, 233, 247};
constexpr Colour lines[] = {colours::blue, colours::orange, colours::green};

}  // namespace

void draw_regression(const std::string &path, const Picture &p) {
  const auto [low, high] = std::minmax_element(p.x.begin(), p.x.end());
  const double room = (*high - *low) / 6;
  Plot plot;
  plot.title = "Bayesian regression";
  plot.x_label = p.x_label;
  plot.left_label = p.y_label;
  plot.bands = {{"95 % of data", {}, {}, {}, for_data}, {"95 % of lines", {}, {}, {}, for_line}};
  for (size_t i = 0; i < p.posteriors.size(); ++i) {
    Series mean = {p.posteriors[i].first, {}, {}, lines[i % std::size(lines)]};
    mean.thickness = i == 0 ? 3.5 : 1.5;
    for (int k = 0; k <= 200; ++k) {
      const double x = *low - room + (*high - *low + 2 * room) * k / 200;
      const Tensor features = powers_of({p.scaled(x)}, p.degree);
      const Posterior::Prediction at = p.posteriors[i].second.at(features.reals());
      mean.x.push_back(x);
      mean.y.push_back(at.mean);
      if (i > 0) continue;
      const double around = std::sqrt(at.deviation * at.deviation + p.noise * p.noise);
      for (Band &band : plot.bands) {
        const double width = 2 * (&band == &plot.bands[0] ? around : at.deviation);
        band.x.push_back(x);
        band.low.push_back(at.mean - width);
        band.high.push_back(at.mean + width);
      }
    }
    plot.series.push_back(mean);
  }
  plot.series.push_back({"data", p.x, p.y, colours::ink, Axis::left, 6, Style::points});
  write_png(path, draw(plot).pixels());
}

}  // namespace saltern
