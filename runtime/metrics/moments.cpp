#include "runtime/metrics/moments.h"

namespace saltern::metrics {

void Moments::add(double at_x, double at_y, double weight) { merge({weight, at_x, at_y, 0, 0, 0}); }

void Moments::merge(const Moments &o) {
  if (o.n == 0) return;
  const double all = n + o.n, dx = o.x - x, dy = o.y - y, share = n * o.n / all;
  x += dx * o.n / all;
  y += dy * o.n / all;
  xx += o.xx + dx * dx * share;
  yy += o.yy + dy * dy * share;
  xy += o.xy + dx * dy * share;
  n = all;
}

namespace {
constexpr size_t moment_rows = 6;
double *row(Moments &m) { return &m.n; }
static_assert(sizeof(Moments) == moment_rows * sizeof(double));
}  // namespace

Moments moments_at(const Numbers &all, size_t column) {
  Moments m;
  for (size_t r = 0; r < moment_rows; ++r) row(m)[r] = all[r * columns_of(all) + column];
  return m;
}

void set_moments(Numbers &all, size_t column, const Moments &m) {
  Moments copy = m;
  for (size_t r = 0; r < moment_rows; ++r) all[r * columns_of(all) + column] = row(copy)[r];
}

void merge_moments(Numbers &into, const Numbers &more) {
  for (size_t c = 0; c < columns_of(into); ++c) {
    Moments m = moments_at(into, c);
    m.merge(moments_at(more, c));
    set_moments(into, c, m);
  }
}

Numbers moments_of(const Numbers &x, const Numbers &y) {
  const auto columns = static_cast<size_t>(x.extent_from(1));
  Numbers all = Numbers::zeros({moment_rows, static_cast<int64_t>(columns)});
  for (size_t c = 0; c < columns; ++c) {
    Moments m;
    for (size_t i = c; i < x.size(); i += columns) m.add(x[i], y[i]);
    set_moments(all, c, m);
  }
  return all;
}

}  // namespace saltern::metrics
