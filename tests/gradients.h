#pragma once
// Checks explicit gradients against Halide's automatic adjoint and against finite differences, in f64.
//
//   check_gradient({x, w, b}, [](const Tensors &in) { return dense(in[0], in[1], in[2]); },
//                  {{0, [](const Tensors &in, const Tensor &dy) { return dense_gradient_x(in[1], dy); }}});
//
// The claim is about g = <dy, f(inputs)> for a random dy: the explicit gradient for input i is dg / d(input i).
// Keep values away from kinks (ties of a maximum, the zero of a relu): there are no derivatives there.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/adjoint.h"
#include "tests/evaluate.h"
#include "tests/random_buffer.h"

namespace saltern {

using Tensors = std::vector<forms::Tensor>;

// Whether Halide can derive the algorithm by itself; it cannot where a reduction is a maximum.
enum class Adjoint { yes, no };

struct ExplicitGradient {
  size_t input;
  std::function<forms::Tensor(const Tensors &inputs, const forms::Tensor &dy)> of;
};

// d <dy, f(inputs)> / d(inputs[i]) by central differences.
inline Halide::Buffer<double> finite_differences(std::vector<Halide::Buffer<double>> inputs,
                                                 const std::function<forms::Tensor(const Tensors &)> &forward,
                                                 const Halide::Buffer<double> &dy, size_t i) {
  // The function reads the elements where they are, so that it is compiled once and sees every nudge.
  Tensors tensors;
  for (const auto &b : inputs) tensors.emplace_back(b);
  const forms::Tensor y = forward(tensors);
  Halide::Func values = y.func();
  schedules::plain({values});
  Halide::Buffer<double> result(extents_of(y));
  const auto projected = [&] {
    values.realize(result);
    double sum = 0;
    result.for_each_element([&](const int *at) { sum += dy(at) * result(at); });
    return sum;
  };

  constexpr double step = 1e-5;
  Halide::Buffer<double> gradient = Halide::Buffer<double>::make_with_shape_of(inputs[i]);
  inputs[i].for_each_element([&](const int *at) {
    const double x = inputs[i](at);
    inputs[i](at) = x + step;
    const double above = projected();
    inputs[i](at) = x - step;
    const double below = projected();
    inputs[i](at) = x;
    gradient(at) = (above - below) / (2 * step);
  });
  return gradient;
}

inline void check_gradient(const std::vector<Halide::Buffer<double>> &inputs,
                           const std::function<forms::Tensor(const Tensors &)> &forward,
                           const std::vector<ExplicitGradient> &gradients, Adjoint adjoint = Adjoint::yes,
                           double tolerance = 1e-6) {
  Tensors tensors;
  for (const auto &b : inputs) tensors.emplace_back(b);
  const forms::Tensor y = forward(tensors);
  const Halide::Buffer<double> dy = random_buffer<double>(extents_of(y), 4711);
  const forms::Tensor dy_tensor(dy);

  for (const ExplicitGradient &g : gradients) {
    const std::string what = "gradient of '" + y.func().name() + "' for input " + std::to_string(g.input);
    const forms::Tensor dx = g.of(tensors, dy_tensor);
    ASSERT_EQ(extents_of(dx), extents_of(tensors[g.input])) << what;
    const Halide::Buffer<double> got = evaluate<double>(dx);
    EXPECT_LE(relative_difference(got, finite_differences(inputs, forward, dy, g.input)), tolerance)
        << what << ", against finite differences";
    if (adjoint == Adjoint::yes) {
      const auto automatic = forms::gradient(y, dy_tensor, {tensors[g.input]});
      EXPECT_LE(relative_difference(got, evaluate<double>(automatic[0])), 1e-9)
          << what << ", against the automatic adjoint";
    }
  }
}

}  // namespace saltern
