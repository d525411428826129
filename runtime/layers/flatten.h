#pragma once
// (N, C, H, W) -> (N, C * H * W), in row-major order as in PyTorch, whatever the layout of x.

#include "runtime/layers/module.h"
#include "runtime/layers/movement.h"

namespace saltern {

inline Variable flatten(const Variable &x) {
  if (x.shape().empty()) fail("flatten: a scalar has no batch dimension");
  const Shape &s = x.shape();
  return reshape(x, {s[0], elements({s.begin() + 1, s.end()})});
}

class Flatten : public Module {
 public:
  Variable forward(const Variable &x) override { return flatten(x); }
};

}  // namespace saltern
