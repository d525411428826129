#include "apps/saltern/best_classes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "apps/saltern/command.h"
#include "runtime/files/file.h"

namespace saltern {

std::vector<std::vector<ScoredClass>> best_classes(const Tensor &scores, int count,
                                                   const std::vector<std::string> &labels) {
  Shape shape = scores.shape();
  while (shape.size() > 2 && shape.back() == 1) shape.pop_back();
  if (shape.empty() || shape.size() > 2 || scores.type() == Type::text || elements(shape) == 0)
    throw BadInput("--top: the first output is " + to_string(scores.shape()) + ", not scores of classes (N, classes)");
  const auto classes = static_cast<size_t>(shape.back());
  if (!labels.empty() && labels.size() != classes)
    throw BadInput("--labels: " + std::to_string(labels.size()) + " labels for " + std::to_string(classes) +
                   " classes");
  const std::vector<double> all = scores.reals();
  std::vector<std::vector<ScoredClass>> rows;
  for (size_t first = 0; first < all.size(); first += classes) {
    const double *row = all.data() + first;
    std::vector<int64_t> order(classes);
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return row[a] > row[b] || (std::isnan(row[b]) && !std::isnan(row[a]));
    });
    order.resize(std::min(classes, static_cast<size_t>(count)));
    rows.emplace_back();
    for (int64_t c : order) rows.back().push_back({c, labels.empty() ? "" : labels[static_cast<size_t>(c)], row[c]});
  }
  return rows;
}

std::vector<std::string> read_labels(const std::string &path) {
  constexpr uint64_t most = 64 << 20;
  const std::vector<uint8_t> bytes = on_input([&] { return read_file(path, most); });
  std::istringstream text(std::string(bytes.begin(), bytes.end()));
  std::vector<std::string> labels;
  for (std::string line; std::getline(text, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    labels.push_back(line);
  }
  return labels;
}

}  // namespace saltern
