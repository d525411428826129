// Attention kernels of compiled models, of the sizes that transformers have; copies of inputs and outputs included:
//
//   share_of_peak   of this core's multiply-add peak, measured around every sample in the same run

#include "bench/timed.h"
#include "generators/model/compile.h"
#include "generators/model/toolchain.h"
#include "runtime/graph/flops.h"
#include "runtime/kernels/compiled_model.h"
#include "runtime/kernels/peak.h"

namespace {

using namespace saltern;
using generators::TemporaryFolder;

struct Sizes {
  const char *name;
  int64_t heads, rows, keys, size;
};

// What the passes of the model compiler make an attention.
Graph attention(const Sizes &s) {
  Graph g;
  g.add_input("query", {s.heads, s.rows, s.size});
  g.add_input("key", {s.heads, s.size, s.keys});
  g.add_input("value", {s.heads, s.keys, s.size});
  const Shape scores = {s.heads, s.rows, s.keys};
  g.add_node("matmul", {"query", "key"}, "scores", scores);
  g.add_node("softmax", {"scores"}, "weights", scores, {{"axis", int64_t{-1}}});
  g.outputs = {g.add_node("matmul", {"weights", "value"}, "y", {s.heads, s.rows, s.size})};
  return g;
}

void run(benchmark::State &state, const Sizes &sizes) {
  const TemporaryFolder folder;
  const Graph g = attention(sizes);
  generators::CompileOptions options;
  options.name = "attention";
  options.folder = folder.path();
  options.targets = {generators::best_target_here()};
  options.shared = true;
  const CompiledLibrary library(generators::compile_model(g, options).shared_library, "attention", 1);
  std::vector<Tensor> inputs;
  for (const auto &e : library.inputs()) inputs.push_back(Tensor::full(e.shape, 0.5));
  Measurement m;
  for (auto _ : state) {
    m = measure([&] { library.run(inputs); }, flops(g), {instruction_set_in_use(), 1, 0.3});
    state.SetIterationTime(m.milliseconds * 1e-3);
  }
  state.counters["share_of_peak"] = m.share_of_peak;
  state.counters["gflops"] = m.gflops;
}

}  // namespace

int main(int argc, char **argv) {
  for (const Sizes &s : {Sizes{"text", 12, 128, 128, 64}, {"pictures", 12, 197, 197, 64}, {"long", 8, 1024, 1024, 64}})
    add_timed(std::string("attention/") + s.name, run, s);
  return run_benchmarks(argc, argv);
}
