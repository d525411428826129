// Keras' means of accuracies and of what numbers are apart.

#include <algorithm>
#include <cmath>

#include "runtime/metrics/keras_mean.h"

namespace saltern::metrics {

namespace {

Numbers given(const Arguments &, const Arguments &in) { return numbers(in, "values"); }
const KerasMean mean_metric("keras.Mean", named("mean"), given, nullptr, "values, sample_weight=None");
const KerasMean sum_metric("keras.Sum", named("sum"), given, nullptr, "values, sample_weight=None", true);

const KerasMean accuracy("keras.Accuracy", named("accuracy"), [](const Arguments &, const Arguments &in) {
  return of_elements(in, [](double y, double p) { return double(y == p); });
});
const KerasMean binary_accuracy("keras.BinaryAccuracy", named("binary_accuracy", "threshold=0.5"),
                                [](const Arguments &o, const Arguments &in) {
                                  const double limit = o.real("threshold");
                                  return of_elements(
                                      in, [=](double y, double p) { return double(y == double(is_above(p, limit))); });
                                });

// Of each row the place of the largest.
size_t best(const double *row, size_t n) { return static_cast<size_t>(std::max_element(row, row + n) - row); }
bool in_top(double truth, const double *scores, size_t n, int64_t k) {
  const auto t = static_cast<int64_t>(truth);
  if (t < 0 || t >= static_cast<int64_t>(n)) return false;
  return std::count_if(scores, scores + n, [&](double x) { return x > scores[t]; }) < k;
}
const KerasMean categorical("keras.CategoricalAccuracy", named("categorical_accuracy"),
                            [](const Arguments &, const Arguments &in) {
                              return of_rows(keras_pair(in), [](const double *y, const double *p, size_t n) {
                                return double(best(y, n) == best(p, n));
                              });
                            });
const KerasMean sparse_categorical("keras.SparseCategoricalAccuracy", named("sparse_categorical_accuracy"),
                                   [](const Arguments &, const Arguments &in) {
                                     return of_classes(in, [](double y, const double *p, size_t n) {
                                       return double(y == static_cast<double>(best(p, n)));
                                     });
                                   });
const KerasMean top_k("keras.TopKCategoricalAccuracy", "k=5, " + named("top_k_categorical_accuracy"),
                      [](const Arguments &o, const Arguments &in) {
                        return of_rows(keras_pair(in),
                                       [k = o.integer("k")](const double *y, const double *p, size_t n) {
                                         return double(in_top(static_cast<double>(best(y, n)), p, n, k));
                                       });
                      });
const KerasMean sparse_top_k("keras.SparseTopKCategoricalAccuracy",
                             "k=5, " + named("sparse_top_k_categorical_accuracy", "from_sorted_ids=False"),
                             [](const Arguments &o, const Arguments &in) {
                               const int64_t k = o.integer("k");
                               const bool sorted = o.flag("from_sorted_ids");
                               return of_classes(in, [=](double y, const double *p, size_t n) {
                                 if (!sorted) return double(in_top(y, p, n, k));
                                 const double *end = p + std::min(static_cast<size_t>(k), n);
                                 return double(std::find(p, end, y) != end);
                               });
                             });

// ---- What numbers are apart.

const KerasMean absolute("keras.MeanAbsoluteError", named("mean_absolute_error"),
                         [](const Arguments &, const Arguments &in) {
                           return means(in, [](double y, double p) { return std::abs(y - p); });
                         });
Numbers squares(const Arguments &, const Arguments &in) {
  return means(in, [](double y, double p) { return (y - p) * (y - p); });
}
const KerasMean squared("keras.MeanSquaredError", named("mean_squared_error"), squares);
const KerasMean root(
    "keras.RootMeanSquaredError", named("root_mean_squared_error"),
    [](const Arguments &, const Arguments &in) {
      return of_elements(in, [](double y, double p) { return (y - p) * (y - p); });
    },
    [](double m) { return std::sqrt(m); });
const KerasMean percentage("keras.MeanAbsolutePercentageError", named("mean_absolute_percentage_error"),
                           [](const Arguments &, const Arguments &in) {
                             return means(in, [](double y, double p) {
                               return 100 * std::abs(y - p) / std::max(std::abs(y), keras_epsilon);
                             });
                           });
const KerasMean logarithmic("keras.MeanSquaredLogarithmicError", named("mean_squared_logarithmic_error"),
                            [](const Arguments &, const Arguments &in) {
                              return means(in, [](double y, double p) {
                                const double d =
                                    std::log1p(std::max(y, keras_epsilon)) - std::log1p(std::max(p, keras_epsilon));
                                return d * d;
                              });
                            });
const KerasMean log_cosh("keras.LogCoshError", named("logcosh"), [](const Arguments &, const Arguments &in) {
  return means(in, [](double y, double p) {
    const double d = std::abs(p - y);
    return d + std::log1p(std::exp(-2 * d)) - std::log(2.0);
  });
});
const KerasMean poisson("keras.Poisson", named("poisson"), [](const Arguments &, const Arguments &in) {
  return means(in, [](double y, double p) { return p - y * std::log(p + keras_epsilon); });
});

// ---- Hinges: labels 0 and 1 stand for -1 and 1.

Numbers hinges(const Arguments &in, bool square) {
  KerasPair pair = keras_pair(in);
  const bool as_bits = std::all_of(pair.truth.begin(), pair.truth.end(), [](double y) { return y == 0 || y == 1; });
  return of_rows(pair, [=](const double *y, const double *p, size_t n) {
    double all = 0;
    for (size_t i = 0; i < n; ++i) {
      const double x = std::max(1 - (as_bits ? 2 * y[i] - 1 : y[i]) * p[i], 0.0);
      all += (square ? x * x : x) / static_cast<double>(n);
    }
    return all;
  });
}
const KerasMean hinge("keras.Hinge", named("hinge"),
                      [](const Arguments &, const Arguments &in) { return hinges(in, false); });
const KerasMean squared_hinge("keras.SquaredHinge", named("squared_hinge"),
                              [](const Arguments &, const Arguments &in) { return hinges(in, true); });
const KerasMean categorical_hinge("keras.CategoricalHinge", named("categorical_hinge"),
                                  [](const Arguments &, const Arguments &in) {
                                    return of_rows(keras_pair(in), [](const double *y, const double *p, size_t n) {
                                      double own = 0, other = -infinity;
                                      for (size_t i = 0; i < n; ++i) {
                                        own += y[i] * p[i];
                                        other = std::max(other, (1 - y[i]) * p[i]);
                                      }
                                      return std::max(other - own + 1, 0.0);
                                    });
                                  });

}  // namespace

const void *keras_means() { return &accuracy; }

}  // namespace saltern::metrics
