// Batches of trees of different shapes by a tree-LSTM, forward and backward: written for one tree, computed one by one and
// together (runtime/autograd/batching.h).
//
//   ratio   the time of one by one over that of together; both are timed in turn, the best of all turns

#include <chrono>
#include <limits>
#include <optional>

#include "bench/timed.h"
#include "bench/tree_lstm.h"
#include "runtime/autograd/backward.h"
#include "runtime/autograd/batching.h"
#include "runtime/kernels/thread_pool.h"

namespace {

using namespace saltern;

void trees_together(benchmark::State &state, int64_t width, size_t count, int threads) {
  set_threads(threads);
  Random random(7);
  TreeLstm net(width, 5);
  std::vector<Tree> trees;
  std::vector<int32_t> classes;
  for (size_t i = 0; i < count; ++i) {
    trees.push_back(random_tree(random, 10 + static_cast<int64_t>(random.below(20)), width));
    classes.push_back(static_cast<int32_t>(random.below(5)));
  }
  const auto seconds = [&](bool together) {
    const auto begin = std::chrono::steady_clock::now();
    net.clear_gradients();
    std::optional<Batching> scope;
    if (together) scope.emplace();
    backward(net.loss(trees, classes));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  double best[2] = {std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
  for (auto _ : state) {
    for (int turn = 0; turn < 7; ++turn)
      for (const bool together : {false, true}) best[together] = std::min(best[together], seconds(together));
    state.SetIterationTime(best[1]);
    state.counters["one_by_one_ms"] = best[0] * 1e3;
    state.counters["ratio"] = best[0] / best[1];
  }
}

}  // namespace

int main(int argc, char **argv) {
  for (const int threads : {1, 2})
    for (const int64_t width : {64, 128, 256})
      saltern::add_timed("tree_lstm/64_trees/" + std::to_string(width) + "/" + std::to_string(threads), trees_together,
                         width, size_t{64}, threads);
  return saltern::run_benchmarks(argc, argv);
}
