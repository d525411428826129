// Compiles the net of layers.cpp, whose file is given, runs it on the same input, and on what it gives relu, a library
// kernel compiled just in time for two elements, and a formula of one's own, which is compiled, too. Neither changes
// anything; prints that.

#include <cstdio>
#include <exception>

#include "generators/just_in_time.h"
#include "generators/model/compiled_graph.h"
#include "runtime/autograd/operation.h"
#include "runtime/autograd/variable.h"
#include "runtime/formula/computation.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/open_sizes.h"
#include "runtime/tensor/view.h"

const saltern::Operation own("two_halves", [](saltern::Value x) { return x * 0.5 + 0.5 * x; });

int main(int argc, char **argv) {
  using namespace saltern;
  try {
    if (argc < 2) fail("a model's file is expected");
    const generators::CompiledGraph net(at_sizes(load_model(argv[1]), {{"batch", 1}}));
    const Tensor y = net.run({{"x", Tensor::of<float>({1, 3}, {1, 1, 2})}}).at("y"), z = Tensor::empty({1, 2});
    const generators::ExactKernel relu("relu", {{2}}, instruction_set_in_use());
    View from = flat(y), to = flat(z);
    relu({from.buffer(), to.buffer()});
    set_just_in_time(JustInTime::always);
    const Tensor w = own(Variable(z)).value();
    if (computation_counts().just_in_time != 1) fail("the formula was not compiled: ", last_just_in_time_failure());
    std::printf("%g %g\n", w.at<float>({0, 0}), w.at<float>({0, 1}));
  } catch (const std::exception &e) {
    std::fprintf(stderr, "compile: %s\n", e.what());
    return 1;
  }
}
