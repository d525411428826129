#include "runtime/optim/loss_scale.h"

#include <cmath>

#include "runtime/layers/binary.h"
#include "runtime/optim/clipping.h"

namespace saltern {

Variable LossScale::scaled(const Variable &loss) const { return loss * Variable(Tensor::full({}, scale)); }

bool LossScale::unscale(const std::vector<Variable> &parameters) {
  const bool good = std::isfinite(total_norm(gradients_of(parameters), INFINITY));
  if (good) scale_gradients(parameters, 1 / scale);
  good_steps = good ? good_steps + 1 : 0;
  if (!good) scale /= 2;
  if (good_steps == growth_steps) {
    scale *= 2;
    good_steps = 0;
  }
  return good;
}

}  // namespace saltern
