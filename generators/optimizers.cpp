#include "algorithms/optimizers.h"

#include "generators/kernel.h"
#include "schedules/patterns/elementwise.h"

namespace saltern::generators {
namespace {

using dsl::Tensor;

const int million = 1 << 20;

Call sgd_call(int n, double nesterov) { return {{n}, {n}, {n}, 0.1, 0.9, 0.2, 0.01, nesterov}; }

const Kernel sgd("sgd",
                 [](Build &k) {
                   const Tensor p = k.input("p", 1), g = k.input("g", 1), v = k.input("v", 1);
                   algorithms::SgdSettings s;
                   s.rate = k.real("rate");
                   s.momentum = k.real("momentum");
                   s.dampening = k.real("dampening");
                   s.weight_decay = k.real("weight_decay");
                   s.nesterov = k.real("nesterov");
                   const Halide::Func out = k.outputs({"new_p", "new_v"}, algorithms::sgd(p, g, v, s));
                   k.schedule([&](const Machine &m) { schedules::elementwise(out, m); });
                 },
                 {sgd_call(1, 0), sgd_call(17, 1), sgd_call(40001, 0)}, {{"1M", sgd_call(million, 0), 8.0 * million}});

Call adam_call(int n, double decoupled) {
  return {{n}, {n}, {n}, {n}, 0.001, 0.9, 0.999, 1e-8, 0.01, 0.1, 0.001, decoupled};
}

const Kernel adam(
    "adam",
    [](Build &k) {
      const Tensor p = k.input("p", 1), g = k.input("g", 1), mean = k.input("m", 1),
                   square = k.input("v", 1, Halide::Float(32), {0, 1});
      algorithms::AdamSettings s;
      s.rate = k.real("rate");
      s.beta1 = k.real("beta1");
      s.beta2 = k.real("beta2");
      s.epsilon = k.real("epsilon");
      s.weight_decay = k.real("weight_decay");
      s.correction1 = k.real("correction1");
      s.correction2 = k.real("correction2");
      s.decoupled = k.real("decoupled");
      const Halide::Func out = k.outputs({"new_p", "new_m", "new_v"}, algorithms::adam(p, g, mean, square, s));
      k.schedule([&](const Machine &m) { schedules::elementwise(out, m); });
    },
    {adam_call(1, 0), adam_call(17, 1), adam_call(40001, 0)}, {{"1M", adam_call(million, 0), 16.0 * million}});

}  // namespace
}  // namespace saltern::generators
