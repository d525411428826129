#pragma once
// Data, the line that is believed in, and how far it is: bands of two deviations, which hold 95 %, of the line and of data
// around it.

#include "apps/bayesian_regression/regression.h"

namespace saltern {

struct Picture {
  std::string x_label, y_label;
  std::vector<double> x, y;                                   // as they were given
  std::function<double(double x)> scaled;                     // x as the features have it
  std::vector<std::pair<std::string, Posterior>> posteriors;  // bands are those of the first, lines of all
  double noise = 0;
  int64_t degree = 0;
};

void draw_regression(const std::string &path, const Picture &picture);

}  // namespace saltern
