#pragma once
// Activation functions as layers without parameters; as functions, they are in runtime/layers/unary.h.

#include "runtime/layers/module.h"
#include "runtime/layers/unary.h"

namespace saltern {

template <Variable (*function)(const Variable &)>
class Activation : public Module {
 public:
  Variable forward(const Variable &x) override { return function(x); }
};

struct ReLU : Activation<relu> {};
struct LeakyReLU : Activation<leaky_relu> {};
struct Sigmoid : Activation<sigmoid> {};
struct Tanh : Activation<tanh> {};
struct GELU : Activation<gelu> {};
struct SiLU : Activation<silu> {};

}  // namespace saltern
