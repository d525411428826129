#pragma once
// A loss that is multiplied before backward(), so that small gradients are not lost in small types, and gradients that are
// divided again before a step. Where one is not finite, there is no step, and the scale is halved; after so many good ones
// it is doubled (Keras' LossScaleOptimizer).
//
//   LossScale scale;
//   backward(scale.scaled(loss));
//   if (scale.unscale(net.parameters())) optimizer.step();

#include <vector>

#include "runtime/autograd/variable.h"

namespace saltern {

struct LossScale {
  double scale = 32768;
  int64_t growth_steps = 2000;
  int64_t good_steps = 0;  // since the scale changed

  Variable scaled(const Variable &loss) const;
  // Whether the step is to be taken.
  bool unscale(const std::vector<Variable> &parameters);
};

}  // namespace saltern
