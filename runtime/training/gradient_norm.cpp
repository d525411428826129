#include "runtime/training/gradient_norm.h"

#include <cmath>

#include "runtime/autograd/sparse.h"
#include "runtime/layers/binary.h"

namespace saltern {

namespace {

template <typename T>
double sum_of_squares(const T *at, int64_t count) {
  // Eight sums side by side, which do not wait for each other.
  double sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int64_t k = 0; k < 8; ++k) sums[k] += static_cast<double>(at[i + k]) * static_cast<double>(at[i + k]);
  for (; i < count; ++i) sums[0] += static_cast<double>(at[i]) * static_cast<double>(at[i]);
  double sum = 0;
  for (const double s : sums) sum += s;
  return sum;
}

double sum_of_squares(const Tensor &tensor) {
  const Tensor t = tensor.is_dense() ? tensor : tensor.clone();
  if (t.type() == Type::f32) return sum_of_squares(static_cast<const float *>(t.raw()), t.size());
  const std::vector<double> all = t.reals();
  return sum_of_squares(all.data(), t.size());
}

}  // namespace

double gradient_norm(const std::vector<Variable> &parameters) {
  double sum = 0;
  for (const Variable &p : parameters) {
    const Variable &g = p.gradient();
    if (!g.defined()) continue;
    sum += sum_of_squares(g.sparse() ? coalesced(*g.sparse()).values : g.value());
  }
  return std::sqrt(sum);
}

void scale_gradients(const std::vector<Variable> &parameters, double factor) {
  const NoGradient off;
  for (const Variable &p : parameters) {
    const Variable g = p.gradient();
    if (!g.defined()) continue;
    if (const SparseRows *rows = g.sparse())
      p.set_gradient(of_sparse(g.shape(), {rows->rows, (Variable(rows->values) * factor).value(), rows->is_coalesced}));
    else
      p.set_gradient(g * factor);
  }
}

}  // namespace saltern
