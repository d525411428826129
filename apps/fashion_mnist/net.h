#pragma once
// The demo's net: two blocks of two 3x3 convolutions and a pool, then one dense layer; 28 x 28 grey to ten scores.

#include "runtime/layers.h"

namespace saltern {

inline Sequential fashion_net(Random &random) {
  const Conv2dOptions same = {/*stride=*/1, /*padding=*/1};
  return Sequential(Conv2d(random, 1, 32, 3, same), ReLU(),   //
                    Conv2d(random, 32, 32, 3, same), ReLU(),  //
                    MaxPool2d(2),                             //
                    Conv2d(random, 32, 64, 3, same), ReLU(),  //
                    Conv2d(random, 64, 64, 3, same), ReLU(),  //
                    MaxPool2d(2),                             //
                    Flatten(), Linear(random, 64 * 7 * 7, 10));
}

}  // namespace saltern
