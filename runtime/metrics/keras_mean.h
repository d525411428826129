#pragma once
// Keras' means of a number of each sample, by weights of samples.

#include "runtime/metrics/keras.h"

namespace saltern::metrics {

struct KerasMean : MetricRow {
  using Values = Numbers (*)(const Arguments &options, const Arguments &in);
  // `finish` is of the mean; `sums`: it is the sum instead.
  KerasMean(const char *name, const std::string &options, Values values, double (*finish)(double) = nullptr,
            const char *inputs = keras_inputs, bool sums = false);
};

// "name='mean', dtype=None", and more options.
std::string named(const char *name, const char *more = "");

// ---- A number of each element, or of each row along the last dimension.

template <typename F>
Numbers of_elements(const Arguments &in, const F &f) {
  const KerasPair p = keras_pair(in);
  Numbers all = p.truth;
  for (size_t i = 0; i < all.size(); ++i) all[i] = f(p.truth[i], p.pred[i]);
  return all;
}
template <typename F>
Numbers of_rows(const KerasPair &p, const F &f) {
  if (p.pred.rank() == 0) return f(p.truth.begin(), p.pred.begin(), size_t{1});
  const auto columns = static_cast<size_t>(p.pred.shape.back());
  Numbers all;
  all.shape.assign(p.pred.shape.begin(), p.pred.shape.end() - 1);
  for (size_t i = 0; i < p.pred.size(); i += columns)
    all.all.push_back(f(p.truth.begin() + i, p.pred.begin() + i, columns));
  return all;
}
template <typename F>
Numbers means(const Arguments &in, const F &f) {
  return of_rows(keras_pair(in), [&](const double *y, const double *p, size_t n) {
    double all = 0;
    for (size_t i = 0; i < n; ++i) all += f(y[i], p[i]);
    return all / static_cast<double>(n);
  });
}

// Truth as classes beside rows of scores, the last dimension of which it lacks, or has as one element.
KerasPair classes_and_scores(const Arguments &in);
template <typename F>
Numbers of_classes(const Arguments &in, const F &f) {
  const KerasPair p = classes_and_scores(in);
  const auto columns = static_cast<size_t>(p.pred.shape.back());
  Numbers all = p.truth;
  for (size_t i = 0; i < all.size(); ++i) all[i] = f(p.truth[i], p.pred.begin() + i * columns, columns);
  return all;
}

}  // namespace saltern::metrics
