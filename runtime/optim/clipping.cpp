#include "runtime/optim/clipping.h"

#include <algorithm>
#include <cmath>

#include "runtime/autograd/sparse.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

// What the elements of a gradient are in.
Tensor elements_of(const Variable &g) { return without_holes(g.sparse() ? coalesced(*g.sparse()).values : g.value()); }

template <typename F>
void for_elements(const Tensor &t, const F &f) {
  const auto walk = [&](auto *data) {
    for (int64_t i = 0, count = t.size(); i < count; ++i) f(data[i]);
  };
  if (t.type() == Type::f64) return walk(t.data<double>());
  if (t.type() != Type::f32) unsupported("the norm of gradients of ", facts(t.type()).name);
  walk(t.data<float>());
}

// Eight sums side by side, which do not wait for each other.
template <typename T>
double sum_of_squares(const T *at, int64_t count) {
  double sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int64_t k = 0; k < 8; ++k) sums[k] += static_cast<double>(at[i + k]) * static_cast<double>(at[i + k]);
  for (; i < count; ++i) sums[0] += static_cast<double>(at[i]) * static_cast<double>(at[i]);
  double sum = 0;
  for (const double s : sums) sum += s;
  return sum;
}

// Gradients may share memory: they are changed as copies.
template <typename F>
void change_gradients(const std::vector<Variable> &parameters, const F &f) {
  for (const Variable &p : parameters) {
    const Variable &g = p.gradient();
    if (!g.defined()) continue;
    const Tensor changed = elements_of(g).clone();
    for_elements(changed, [&](auto &x) { x = static_cast<std::decay_t<decltype(x)>>(f(static_cast<double>(x))); });
    if (!g.sparse()) {
      p.set_gradient(Variable(changed));
      continue;
    }
    SparseRows rows = coalesced(*g.sparse());
    rows.values = changed;
    p.set_gradient(of_sparse(g.shape(), rows));
  }
}

}  // namespace

double total_norm(const std::vector<Variable> &tensors, double order) {
  if (!(order > 0)) fail("a norm of order ", order, "; expected more than 0");
  double total = 0;
  for (const Variable &v : tensors) {
    const Tensor t = elements_of(v);
    if (std::isinf(order))
      for_elements(t, [&](auto x) { total = std::isnan(x) ? x : std::max<double>(total, std::fabs(x)); });
    else if (order == 2)
      total += t.type() == Type::f32 ? sum_of_squares(t.data<float>(), t.size())
                                     : sum_of_squares(t.data<double>(), t.size());
    else
      for_elements(t, [&](auto x) { total += std::pow(std::fabs(static_cast<double>(x)), order); });
  }
  return std::isinf(order) ? total : std::pow(total, 1 / order);
}

std::vector<Variable> gradients_of(const std::vector<Variable> &parameters) {
  std::vector<Variable> all;
  for (const Variable &p : parameters)
    if (p.gradient().defined()) all.push_back(p.gradient());
  return all;
}

void scale_gradients(const std::vector<Variable> &parameters, double factor) {
  change_gradients(parameters, [&](double x) { return x * factor; });
}

double clip_gradient_norm(const std::vector<Variable> &parameters, double most, double order) {
  const double norm = total_norm(gradients_of(parameters), order), factor = most / (norm + 1e-6);
  if (!(factor >= 1)) scale_gradients(parameters, factor);
  return norm;
}

void clip_gradient_value(const std::vector<Variable> &parameters, double most) {
  change_gradients(parameters, [&](double x) { return std::isnan(x) ? x : std::clamp(x, -most, most); });
}

}  // namespace saltern
