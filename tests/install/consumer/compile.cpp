// Compiles the net of layers.cpp, whose file is given, runs it on the same input, and then relu, a library kernel compiled
// just in time for two elements, on what it gives, which changes nothing; prints that.

#include <cstdio>
#include <exception>

#include "generators/just_in_time.h"
#include "generators/model/compiled_graph.h"
#include "runtime/graph/model_file.h"
#include "runtime/tensor/view.h"

int main(int argc, char **argv) {
  using namespace saltern;
  try {
    if (argc < 2) fail("a model's file is expected");
    const generators::CompiledGraph net(load_model(argv[1]));
    const Tensor y = net.run({{"x", Tensor::of<float>({1, 3}, {1, 1, 2})}}).at("y"), z = Tensor::empty({1, 2});
    const generators::ExactKernel relu("relu", {{2}}, instruction_set_in_use());
    View from = flat(y), to = flat(z);
    relu({from.buffer(), to.buffer()});
    std::printf("%g %g\n", z.at<float>({0, 0}), z.at<float>({0, 1}));
  } catch (const std::exception &e) {
    std::fprintf(stderr, "compile: %s\n", e.what());
    return 1;
  }
}
