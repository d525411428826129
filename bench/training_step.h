#pragma once
// One training step of the demo's net: forward, loss, gradients, plain SGD, on a batch of noise held in memory. The
// same step that bench/peers.py times in PyTorch.

#include "apps/fashion_mnist/net.h"
#include "runtime/autograd/backward.h"
#include "runtime/graph/flops.h"
#include "runtime/graph/trace.h"
#include "runtime/layers/losses.h"
#include "runtime/optim/optimizer.h"

namespace saltern {

class TrainingStep {
 public:
  explicit TrainingStep(int64_t batch = 64)
      : random_(0),
        net_(fashion_net()),
        optimizer_(net_, {0.01}),
        images_(random_.normal_tensor({batch, 1, 28, 28}, Layout::channels_last)),
        labels_(Tensor::empty({batch}, Type::i32)) {
    for (int64_t i = 0; i < batch; ++i) labels_.data<int32_t>()[i] = static_cast<int32_t>(random_.below(10));
  }

  // Of dense layers and convolutions: the forward pass, the gradient of weights, which is as much again, and the
  // gradient of inputs, which is the same but for the first layer, whose input needs none.
  double flops() {
    const Graph whole = trace(net_, images_.shape()), first = trace(net_.at(0), images_.shape());
    return 3 * saltern::flops(whole) - saltern::flops(first);
  }

  // Returns the loss.
  double operator()() {
    optimizer_.clear_gradients();
    const Variable loss = cross_entropy(net_(images_), labels_);
    backward(loss);
    optimizer_.step();
    return loss.value().item();
  }

 private:
  Random random_;
  Sequential net_;
  SGD optimizer_;
  Tensor images_, labels_;
};

}  // namespace saltern
