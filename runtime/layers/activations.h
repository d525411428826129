#pragma once
// Activation functions: a function of one number, and a layer of that name without parameters. To add one, write its
// formula and its kernels (docs/add-a-layer.md) and two lines here.

#include "runtime/layers/module.h"
#include "runtime/layers/unary.h"

namespace saltern {

template <const Unary &function>
class Activation : public Module {
 public:
  Variable forward(const Variable &x) override { return function(x); }
};

inline const Unary relu("relu", piecewise_linear);
using ReLU = Activation<relu>;

inline const Unary leaky_relu("leaky_relu", piecewise_linear);
using LeakyReLU = Activation<leaky_relu>;

inline const Unary sigmoid("sigmoid", [](const Variable &x) {
  const Variable s = sigmoid(x);
  return s * (1 - s) * (1 - 2 * s);
});
using Sigmoid = Activation<sigmoid>;

namespace functions {
inline const Unary tanh("tanh", [](const Variable &x) {
  const Variable t = tanh(x);
  return -2 * t * (1 - t * t);
});
}  // namespace functions
inline Variable tanh(const Variable &x) { return functions::tanh(x); }
using Tanh = Activation<functions::tanh>;

// x Phi(x), with the normal distribution's Phi: the exact form, not the tanh approximation
inline const Unary gelu("gelu", [](const Variable &x) {
  return (2 - x * x) * exp(-0.5 * (x * x)) * 0.3989422804014327;  // 1 / sqrt(2 pi)
});
using GELU = Activation<gelu>;

inline const Unary silu("silu", [](const Variable &x) {
  const Variable s = sigmoid(x);
  return s * (1 - s) * (2 + x * (1 - 2 * s));
});
using SiLU = Activation<silu>;

}  // namespace saltern
