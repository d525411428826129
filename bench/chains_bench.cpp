// Inverted residual blocks of compiled models, depth first (generators/model/chains.h) and one kernel after the other,
// on this machine's best target:
//
//   share_of_peak   of this core's multiply-add peak, measured in the same run
//
//   bench_chains --benchmark_filter=56

#include <algorithm>
#include <chrono>
#include <string>

#include "bench/timed.h"
#include "generators/model/compile.h"
#include "generators/model/toolchain.h"
#include "runtime/graph/flops.h"
#include "runtime/kernels/compiled_model.h"
#include "runtime/kernels/peak.h"

namespace {

using namespace saltern;

struct Block {
  int64_t channels, wide, out, size, stride;
  std::string label() const {
    return std::to_string(channels) + "_" + std::to_string(wide) + "_" + std::to_string(out) + "/" +
           std::to_string(size) + (stride > 1 ? "_stride_" + std::to_string(stride) : "");
  }
};

const Block blocks[] = {{16, 96, 24, 112, 2}, {24, 144, 24, 56, 1}, {24, 144, 32, 56, 2},
                        {32, 192, 32, 28, 1}, {64, 384, 64, 14, 1}, {160, 960, 160, 7, 1}};

// An image is made, goes through the block and is averaged: what comes in and goes out takes no time. Where results
// between are averaged, too, they have to exist whole, and there is no chain.
Graph graph_of(const Block &b, bool whole) {
  Graph g;
  const auto sliding = [](int64_t stride, int64_t padding) {
    return Attributes{{"strides", Shape{stride, stride}}, {"pads", Shape(4, padding)}, {"dilations", Shape{1, 1}}};
  };
  const auto conv = [&](const std::string &x, const std::string &name, int64_t channels, int64_t kernel, int64_t stride,
                        int64_t groups) {
    const Shape s = g.value(x).shape;
    g.add_constant(name + ".weight", Tensor::full({channels, s[1] / groups, kernel, kernel}, 0.01f));
    return g.add_node("conv2d", {x, name + ".weight"}, name, {s[0], channels, s[2] / stride, s[3] / stride},
                      sliding(stride, kernel / 2).with("groups", groups));
  };
  const auto averaged = [&](const std::string &x) {
    const Shape s = g.value(x).shape;
    g.outputs.push_back(g.add_node("average_pool2d", {x}, x + ".mean", {s[0], s[1], 1, 1},
                                   sliding(1, 0).with("kernel", Shape{s[2], s[3]})));
  };
  g.add_input("x", {1, 4, b.size, b.size});
  const std::string image = conv("x", "image", b.channels, 1, 1, 1), wide = conv(image, "wide", b.wide, 1, 1, 1),
                    middle = conv(wide, "middle", b.wide, 3, b.stride, b.wide),
                    out = conv(middle, "out", b.out, 1, 1, 1);
  averaged(image);
  averaged(out);
  if (whole)
    for (const std::string &value : {wide, middle}) averaged(value);
  return g;
}

void run(benchmark::State &state, const Block &block, bool whole, int threads) {
  using Clock = std::chrono::steady_clock;
  const generators::TemporaryFolder folder;
  const Graph graph = graph_of(block, whole);
  generators::CompileOptions options;
  options.name = "block";
  options.folder = folder.path();
  options.targets = {generators::best_target_here()};
  options.shared = true;
  CompiledLibrary library(generators::compile_model(graph, options).shared_library, "block", threads);

  double flops_done = 0, best = 1e9, spent = 0;
  for (const Graph::Node &n : graph.nodes)
    for (const char *name : {"wide", "middle", "out"})
      if (n.outputs[0] == name) flops_done += flops(graph, n);
  Clock::time_point last;
  library.watch([&](const std::string &value) {
    const Clock::time_point now = Clock::now();
    for (const char *name : {"wide", "middle", "out"})
      if (value == name) spent += std::chrono::duration<double>(now - last).count();
    last = now;
  });
  const Tensor x = Tensor::full(graph.value("x").shape, 1);
  for (auto _ : state) {
    for (int i = 0; i < 1000; ++i) {
      spent = 0;
      library.run({x});
      best = std::min(best, spent);
    }
    state.SetIterationTime(best);
  }
  state.counters["share_of_peak"] =
      flops_done / best / 1e9 / peak_gflops(instruction_set(generators::best_target_here()), threads);
}

}  // namespace

int main(int argc, char **argv) {
  for (int threads : {1, 2})
    for (const Block &b : blocks)
      for (bool whole : {false, true})
        add_timed((whole ? "one_by_one/" : "as_compiled/") + b.label() + "/threads:" + std::to_string(threads), run, b,
                  whole, threads);
  return run_benchmarks(argc, argv);
}
