#include "apps/saltern/random_inputs.h"

#include <random>

#include "runtime/tensor/element.h"

namespace saltern {

std::map<std::string, Tensor> random_inputs(const Graph &graph, uint32_t seed) {
  std::map<std::string, Tensor> all;
  std::mt19937 random(seed);  // the same numbers on every machine
  for (const std::string &name : graph.given()) {
    const Graph::Value &v = graph.value(name);
    const Tensor t = Tensor::empty(v.shape, v.type);
    for (int64_t i = 0; i < t.size(); ++i) {
      const double unit = static_cast<double>(random()) / 4294967296.0;
      const double value = is_real(v.type)           ? unit * 2 - 1
                           : v.type == Type::boolean ? (unit < 0.5 ? 0 : 1)
                                                     : static_cast<int>(unit * 4);
      set_element(v.type, t.raw(), i, value);
    }
    all[name] = t;
  }
  return all;
}

}  // namespace saltern
