#pragma once
// A report of a training as one HTML file that needs nothing else: curves as SVG, pictures as PNG inside of it, no script and
// no address of anything. Sections without content are left out; each has its name as its id.

#include <map>
#include <string>
#include <vector>

#include "runtime/report/plot.h"

namespace saltern {

struct HtmlReport {
  struct Picture {
    Tensor pixels;  // u8 (height, width) or (height, width, 1, 3 or 4); undefined: only the caption
    std::string caption;
  };
  struct Layer {
    std::string name, kind, result;
    int64_t parameters = 0, bytes = 0;  // of parameters the number, of the result its bytes
    double milliseconds = 0;
  };

  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<Plot> curves;                     // their left axes
  std::vector<std::string> classes;             // of the confusion matrix, by number where there are none
  std::vector<std::vector<int64_t>> confusion;  // [what it is][what was said]
  std::vector<Picture> filters, mistakes, activations;
  std::vector<Layer> layers;
};

std::string to_html(const HtmlReport &report);

Plot small_plot(const std::string &title, const std::string &x_label, const Series &series);
// A plot for each number, by its values of epochs, with that of validation, val_NAME, beside it.
std::vector<Plot> epoch_curves(const std::map<std::string, std::vector<double>> &epochs);
// The left axis of a plot.
std::string to_svg(const Plot &plot);

}  // namespace saltern
