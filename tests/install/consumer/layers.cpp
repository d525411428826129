// Runs a net whose parameters are small whole numbers, with a layer of its own, and prints what it gives; with an
// argument, saves the net there.

#include <cstdio>
#include <exception>

#include "runtime/autograd/check_gradients.h"
#include "runtime/autograd/variable.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/trace.h"
#include "runtime/nn/all.h"

using namespace saltern;

const Operation own_scale("own_scale", [](Value x, Value scale) { return scale * x; });
struct OwnScale : Module {
  Variable scale;
  explicit OwnScale(int64_t channels) : scale(Tensor::full({channels}, 1), /*requires_gradient=*/true) {}
  Variable forward(const Variable &x) override { return own_scale(x, scale); }
  void visit(Visitor &v) override { v.parameter("scale", scale); }
};

const Operation own_group_norm("own_group_norm", [](Value x, Value scale, Value shift) {
  const Value g = split(x, 1, 2, quotient(x.extent(1), 2)), d = g - mean(g, {2, 3});  // two groups of channels
  return merged(d / sqrt(mean(d * d, {2, 3}) + 1e-5), 1) * scale + shift;
});

int main(int argc, char **argv) {
  try {
    check_gradients(own_scale, {{2, 3}, {3}});
    check_gradients(own_group_norm, {{2, 4, 3}, {4, 1}, {4, 1}});
    Sequential net(nn::Linear(3, 2), OwnScale(2), nn::ReLU());
    net.load_state({{"0.weight", Tensor::of<float>({2, 3}, {2, 4, 6, 4, 5, 6})},
                    {"0.bias", Tensor::of<float>({2}, {1, -100})},
                    {"1.scale", Tensor::of<float>({2}, {0.5f, 3})}});
    const Variable y = net.forward(Variable(Tensor::of<float>({1, 3}, {1, 1, 2})));
    std::printf("%g %g\n", y.value().at<float>({0, 0}), y.value().at<float>({0, 1}));
    if (argc > 1) save_model(argv[1], trace(net, {"batch", 3}));
  } catch (const std::exception &e) {
    std::fprintf(stderr, "layers: %s\n", e.what());
    return 1;
  }
}
