#pragma once
// The demo's net: two blocks of two 3x3 convolutions and a pool, then one dense layer; 28 x 28 grey to ten scores.

#include "runtime/nn/all.h"

namespace saltern {

inline Sequential fashion_net() {
  const nn::NamedArgument same = {"padding", 1};
  return Sequential(nn::Conv2d(1, 32, 3, same), nn::ReLU(),   //
                    nn::Conv2d(32, 32, 3, same), nn::ReLU(),  //
                    nn::MaxPool2d(2),                         //
                    nn::Conv2d(32, 64, 3, same), nn::ReLU(),  //
                    nn::Conv2d(64, 64, 3, same), nn::ReLU(),  //
                    nn::MaxPool2d(2),                         //
                    nn::Flatten(), nn::Linear(64 * 7 * 7, 10));
}

}  // namespace saltern
