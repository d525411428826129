#include "algorithms/optimizers.h"

#include "generators/kernel.h"

namespace saltern::generators {
namespace {

using formula::Value;

const int million = 1 << 20;

Call sgd_call(int n, double nesterov) { return {{n}, {n}, {n}, 0.1, 0.9, 0.2, 0.01, nesterov}; }

const Kernel sgd("sgd",
                 [](Build &k) {
                   const Value p = k.input("p", {"n"}), g = k.input("g", {"n"}), v = k.input("v", {"n"});
                   algorithms::SgdSettings s;
                   s.rate = k.parameter("rate");
                   s.momentum = k.parameter("momentum");
                   s.dampening = k.parameter("dampening");
                   s.weight_decay = k.parameter("weight_decay");
                   s.nesterov = k.parameter("nesterov");
                   k.outputs({"new_p", "new_v"}, algorithms::sgd(p, g, v, s));
                 },
                 {sgd_call(1, 0), sgd_call(17, 1), sgd_call(40001, 0)}, {{"1M", sgd_call(million, 0), 8.0 * million}});

Call adam_call(int n, double decoupled) {
  return {{n}, {n}, {n}, {n}, 0.001, 0.9, 0.999, 1e-8, 0.01, 0.1, 0.001, decoupled};
}

const Kernel adam("adam",
                  [](Build &k) {
                    const Value p = k.input("p", {"n"}), g = k.input("g", {"n"}), mean = k.input("m", {"n"}),
                                square = k.input("v", {"n"}, Type::f32, {0, 1});
                    algorithms::AdamSettings s;
                    s.rate = k.parameter("rate");
                    s.beta1 = k.parameter("beta1");
                    s.beta2 = k.parameter("beta2");
                    s.epsilon = k.parameter("epsilon");
                    s.weight_decay = k.parameter("weight_decay");
                    s.correction1 = k.parameter("correction1");
                    s.correction2 = k.parameter("correction2");
                    s.decoupled = k.parameter("decoupled");
                    k.outputs({"new_p", "new_m", "new_v"}, algorithms::adam(p, g, mean, square, s));
                  },
                  {adam_call(1, 0), adam_call(17, 1), adam_call(40001, 0)},
                  {{"1M", adam_call(million, 0), 16.0 * million}});

}  // namespace
}  // namespace saltern::generators
