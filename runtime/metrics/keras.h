#pragma once
// What Keras' metrics share: names and types as options, y_true before y_pred, and weights of samples.

#include "runtime/metrics/metric.h"

namespace saltern::metrics {

constexpr char keras_inputs[] = "y_true, y_pred, sample_weight=None";

// y_true and y_pred, where one may lack a last dimension of one element.
struct KerasPair {
  Numbers truth, pred;
};
KerasPair keras_pair(const Arguments &in);

// The weights of elements of a shape, from the leading dimensions on; all 1 where none are given.
std::vector<double> keras_weights(const Arguments &in, const Shape &shape);

// Keras' small number.
constexpr double keras_epsilon = 1e-7;

}  // namespace saltern::metrics
