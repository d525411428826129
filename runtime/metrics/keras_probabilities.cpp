// Keras' means of losses of probabilities, and of how rows go together.

#include <algorithm>
#include <cmath>

#include "runtime/metrics/keras_mean.h"
#include "runtime/metrics/moments.h"

namespace saltern::metrics {

namespace {

// ---- Probabilities.

double clipped(double p) { return std::clamp(p, keras_epsilon, 1 - keras_epsilon); }
// Logarithms of the chances that a row of scores or chances says.
std::vector<double> log_chances(const double *p, size_t n, bool are_scores) {
  const double most = *std::max_element(p, p + n);
  double all = 0;
  for (size_t i = 0; i < n; ++i) all += are_scores ? std::exp(p[i] - most) : p[i];
  std::vector<double> logs;
  for (size_t i = 0; i < n; ++i)
    logs.push_back(are_scores ? p[i] - most - std::log(all) : std::log(clipped(p[i] / all)));
  return logs;
}
void expect_last_axis(const Arguments &o) {
  if (o.integer("axis") != -1) o.refuse("axis", "-1, the last one");
}
const KerasMean binary_entropy("keras.BinaryCrossentropy",
                               named("binary_crossentropy", "from_logits=False, label_smoothing=0"),
                               [](const Arguments &o, const Arguments &in) {
                                 const double smoothing = o.real("label_smoothing");
                                 const bool are_scores = o.flag("from_logits");
                                 return means(in, [=](double truth, double p) {
                                   const double y = truth * (1 - smoothing) + smoothing / 2;
                                   if (are_scores) return std::max(p, 0.0) - p * y + std::log1p(std::exp(-std::abs(p)));
                                   return -(y * std::log(clipped(p)) + (1 - y) * std::log(1 - clipped(p)));
                                 });
                               });
const KerasMean entropy("keras.CategoricalCrossentropy",
                        named("categorical_crossentropy", "from_logits=False, label_smoothing=0, axis=-1"),
                        [](const Arguments &o, const Arguments &in) {
                          expect_last_axis(o);
                          return of_rows(keras_pair(in), [&o](const double *y, const double *p, size_t n) {
                            const double smoothing = o.real("label_smoothing");
                            const std::vector<double> logs = log_chances(p, n, o.flag("from_logits"));
                            double all = 0;
                            for (size_t i = 0; i < n; ++i)
                              all -= (y[i] * (1 - smoothing) + smoothing / static_cast<double>(n)) * logs[i];
                            return all;
                          });
                        });
const KerasMean sparse_entropy("keras.SparseCategoricalCrossentropy",
                               named("sparse_categorical_crossentropy",
                                     "from_logits=False, ignore_class=None, axis=-1"),
                               [](const Arguments &o, const Arguments &in) {
                                 expect_last_axis(o);
                                 return of_classes(in, [&](double y, const double *p, size_t n) {
                                   if (o.has("ignore_class") && y == static_cast<double>(o.integer("ignore_class")))
                                     return 0.0;
                                   if (!(y >= 0 && y < static_cast<double>(n)))
                                     in.refuse("y_true", "classes from 0 to " + std::to_string(n - 1));
                                   return -log_chances(p, n, o.flag("from_logits"))[static_cast<size_t>(y)];
                                 });
                               });
const KerasMean divergence("keras.KLDivergence", named("kl_divergence"), [](const Arguments &, const Arguments &in) {
  return of_rows(keras_pair(in), [](const double *y, const double *p, size_t n) {
    double all = 0;
    for (size_t i = 0; i < n; ++i) {
      const double a = std::clamp(y[i], keras_epsilon, 1.0), b = std::clamp(p[i], keras_epsilon, 1.0);
      all += a * std::log(a / b);
    }
    return all;
  });
});

// ---- How rows go together.

const KerasMean cosine("keras.CosineSimilarity", named("cosine_similarity", "axis=-1"),
                       [](const Arguments &o, const Arguments &in) {
                         expect_last_axis(o);
                         return of_rows(keras_pair(in), [](const double *y, const double *p, size_t n) {
                           double dot = 0, yy = 0, pp = 0;
                           for (size_t i = 0; i < n; ++i) {
                             dot += y[i] * p[i];
                             yy += y[i] * y[i];
                             pp += p[i] * p[i];
                           }
                           return ratio(dot, std::sqrt(yy) * std::sqrt(pp));
                         });
                       });
Moments moments_of_row(const double *y, const double *p, size_t n) {
  Moments m;
  for (size_t i = 0; i < n; ++i) m.add(y[i], p[i]);
  return m;
}
const KerasMean pearson("keras.PearsonCorrelation", named("pearson_correlation", "axis=-1"),
                        [](const Arguments &o, const Arguments &in) {
                          expect_last_axis(o);
                          return of_rows(keras_pair(in), [](const double *y, const double *p, size_t n) {
                            const Moments m = moments_of_row(y, p, n);
                            return m.xy / std::sqrt(m.xx * m.yy);
                          });
                        });
const KerasMean concordance("keras.ConcordanceCorrelation", named("concordance_correlation", "axis=-1"),
                            [](const Arguments &o, const Arguments &in) {
                              expect_last_axis(o);
                              return of_rows(keras_pair(in), [](const double *y, const double *p, size_t n) {
                                const Moments m = moments_of_row(y, p, n);
                                return 2 * m.xy / m.n /
                                       ((m.xx + m.yy) / m.n + (m.x - m.y) * (m.x - m.y) + keras_epsilon);
                              });
                            });

}  // namespace

const void *keras_probabilities() { return &divergence; }

}  // namespace saltern::metrics
