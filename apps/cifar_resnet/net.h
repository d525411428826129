#pragma once
// A small residual net (He and others, 2016) for pictures of 32 x 32 pixels: a convolution, three stages of blocks, each of
// half the size and twice the channels of the one before, and the mean of what is left.
//
//   block(x) = relu(bn(conv(relu(bn(conv(x))))) + x),   where the size changes, of a 1 x 1 convolution of x

#include <memory>

#include "runtime/nn/all.h"

namespace saltern {

struct ResidualBlock : Module {
  Sequential body, shortcut;  // without parts, the shortcut is x itself

  ResidualBlock(int64_t in, int64_t out, int64_t stride) {
    using namespace nn::literals;
    body =
        Sequential(nn::Conv2d(in, out, 3, "stride"_a = stride, "padding"_a = 1, "bias"_a = false), nn::BatchNorm2d(out),
                   nn::ReLU(), nn::Conv2d(out, out, 3, "padding"_a = 1, "bias"_a = false), nn::BatchNorm2d(out));
    if (stride != 1 || in != out)
      shortcut = Sequential(nn::Conv2d(in, out, 1, "stride"_a = stride, "bias"_a = false), nn::BatchNorm2d(out));
  }
  Variable forward(const Variable &x) override { return relu(body(x) + shortcut(x)); }
  void visit(Visitor &v) override {
    v.child("body", body);
    v.child("shortcut", shortcut);
  }
};

// `blocks` a stage; `width` channels in the first. Pictures are f32 (n, 3, 32, 32) from 0 to 1.
inline Sequential residual_net(int64_t blocks, int64_t width, int64_t classes) {
  using namespace nn::literals;
  Sequential net(nn::Rescaling(4.0, -2.0), nn::Conv2d(3, width, 3, "padding"_a = 1, "bias"_a = false),
                 nn::BatchNorm2d(width), nn::ReLU());
  int64_t channels = width;
  for (int64_t stage = 0; stage < 3; ++stage)
    for (int64_t block = 0; block < blocks; ++block) {
      const bool halves = stage > 0 && block == 0;
      net.add(ResidualBlock(channels, halves ? 2 * channels : channels, halves ? 2 : 1));
      if (halves) channels *= 2;
    }
  net.add(nn::AdaptiveAvgPool2d(1));
  net.add(nn::Flatten());
  net.add(nn::Linear(channels, classes));
  return net;
}

}  // namespace saltern
