// Runs a net whose parameters are small whole numbers and prints what it gives; with an argument, saves the net there.

#include <cstdio>
#include <exception>

#include "runtime/graph/model_file.h"
#include "runtime/graph/trace.h"
#include "runtime/layers.h"

int main(int argc, char **argv) {
  using namespace saltern;
  try {
    Random random(1);
    Sequential net(Linear(random, 3, 2), ReLU());
    net.load_state({{"0.weight", Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})},
                    {"0.bias", Tensor::of<float>({2}, {0.5f, -100})}});
    const Variable y = net.forward(Variable(Tensor::of<float>({1, 3}, {1, 1, 2})));
    std::printf("%g %g\n", y.value().at<float>({0, 0}), y.value().at<float>({0, 1}));
    if (argc > 1) save_model(argv[1], trace(net, {1, 3}));
  } catch (const std::exception &e) {
    std::fprintf(stderr, "layers: %s\n", e.what());
    return 1;
  }
}
