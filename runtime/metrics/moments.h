#pragma once
// Of pairs (x, y): their count, means, squared deviations and products of these, which batches have in common without the
// cancellation of plain sums of squares (Chan, Golub, LeVeque). Rows n, x, y, xx, yy, xy; a column for each output.

#include "runtime/metrics/numbers.h"

namespace saltern::metrics {

struct Moments {
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;

  void add(double at_x, double at_y, double weight = 1);
  void merge(const Moments &other);
};

// Of each column of two matrices, or of two vectors.
Numbers moments_of(const Numbers &x, const Numbers &y);
void merge_moments(Numbers &into, const Numbers &more);
Moments moments_at(const Numbers &all, size_t column);
void set_moments(Numbers &all, size_t column, const Moments &m);
inline size_t columns_of(const Numbers &moments) { return static_cast<size_t>(moments.shape[1]); }

}  // namespace saltern::metrics
