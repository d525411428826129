// Runs the net of layers.cpp as an ONNX model, whose file is given, on the same input and prints what it gives.

#include <cstdio>
#include <exception>

#include "runtime/onnx/model.h"
#include "runtime/onnx/run_model.h"

int main(int argc, char **argv) {
  using namespace saltern;
  try {
    if (argc < 2) fail("a model's file is expected");
    const Model model = load_onnx(argv[1]);
    const HostValues outputs = run_model(model, {{"x", Tensor::of<float>({1, 3}, {1, 1, 2})}});
    const Tensor &y = outputs.at("y").tensor();
    std::printf("%g %g\n", y.at<float>({0, 0}), y.at<float>({0, 1}));
  } catch (const std::exception &e) {
    std::fprintf(stderr, "run_onnx: %s\n", e.what());
    return 1;
  }
}
