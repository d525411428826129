// Reductions and norms of compiled models, on one thread and this machine's best target:
//
//   share_of_bandwidth   of what the C library reaches in the same run on the same memory: a search through it for a
//                        reduction, a copy of it for a norm
//
//   bench_reductions --benchmark_filter=sum

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>

#include "bench/timed.h"
#include "generators/model/compile.h"
#include "generators/model/toolchain.h"
#include "runtime/kernels/compiled_model.h"

namespace {

using namespace saltern;
using formula::axis;
using formula::Expression;
using formula::Function;

Expression at(int operand, const std::vector<Expression> &indices) { return load(operand, Type::f32, indices); }

std::string add_formula(Graph &g, const std::vector<std::string> &from, const std::string &to, const Shape &shape,
                        const Expression &element) {
  return g.add_node("formula", from, to, shape, {{"element", element}}, element.type());
}

// x (rows, columns), over its rows or over its columns.
Graph reduction(Function f, int64_t rows, int64_t columns, bool over_rows) {
  Graph g;
  g.add_input("x", {rows, columns});
  const Expression element = reduce(f, {over_rows ? columns : rows}, [&](const auto &s) {
    return over_rows ? at(0, {axis(0), s[0]}) : at(0, {s[0], axis(0)});
  });
  g.outputs = {add_formula(g, {"x"}, "y", {over_rows ? rows : columns}, element)};
  return g;
}

// x less its mean over a plane, over its deviation.
Graph instance_norm(int64_t channels, int64_t size) {
  Graph g;
  const Shape image = {8, channels, size, size}, statistics = {8, channels, 1, 1};
  g.add_input("x", image);
  const Expression zero = formula::constant_integer(Type::i64, 0);
  const auto of = [&](int operand) { return at(operand, {axis(0), axis(1), zero, zero}); };
  const auto mean = [&](const std::function<Expression(const Expression &)> &value) {
    const Expression sum = reduce(Function::sum, {size, size}, [&](const auto &s) {
      return value(at(0, {axis(0), axis(1), s[0], s[1]}));
    });
    return sum / (size * size);
  };
  add_formula(g, {"x"}, "mean", statistics, mean([](const Expression &x) { return x; }));
  add_formula(g, {"x", "mean"}, "variance", statistics,
              mean([&](const Expression &x) { return (x - of(1)) * (x - of(1)); }));
  g.outputs = {add_formula(g, {"x", "mean", "variance"}, "y", image,
                           (at(0, {axis(0), axis(1), axis(2), axis(3)}) - of(1)) / sqrt(of(2) + 1e-5))};
  return g;
}

// The best of many runs, in seconds.
double best_of(const std::function<void()> &run) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  const auto until = Clock::now() + std::chrono::milliseconds(200);
  while (Clock::now() < until) {
    const auto begun = Clock::now();
    run();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begun).count());
  }
  return best;
}

void run(benchmark::State &state, const Graph &graph) {
  const generators::TemporaryFolder folder;
  generators::CompileOptions options;
  options.name = "reduction";
  options.folder = folder.path();
  options.targets = {generators::best_target_here()};
  options.shared = true;
  const CompiledLibrary library(generators::compile_model(graph, options).shared_library, "reduction", 1);
  const Tensor x = Tensor::full(graph.value("x").shape, 0.5), copy = Tensor::empty(x.shape());
  const bool writes = elements(graph.value(graph.outputs[0]).shape) == x.size();
  constexpr int absent = 0xEE;  // no byte of 0.5
  double ours = 1e9, theirs = 1e9;
  for (auto _ : state) {
    for (int turn = 0; turn < 3; ++turn) {
      ours = std::min(ours, best_of([&] { library.run({x}); }));
      theirs = std::min(theirs, best_of([&] {
                          if (writes)
                            std::memcpy(copy.raw(), x.raw(), x.bytes());
                          else
                            benchmark::DoNotOptimize(std::memchr(x.raw(), absent, x.bytes()));
                        }));
    }
    state.SetIterationTime(ours);
  }
  state.counters["share_of_bandwidth"] = theirs / ours;
}

}  // namespace

int main(int argc, char **argv) {
  struct Size {
    int64_t rows, columns;
  };
  for (const auto &[name, f] : {std::pair{"sum", Function::sum},
                                {"greatest", Function::greatest},
                                {"first_greatest", Function::first_greatest}})
    for (const Size &s : {Size{64, 1024}, {4096, 64}, {512, 3136}, {4096, 7}})
      for (const bool over_rows : {true, false})
        add_timed(std::string(name) + (over_rows ? "/rows/" : "/columns/") + std::to_string(s.rows) + "x" +
                      std::to_string(s.columns),
                  run, reduction(f, s.rows, s.columns, over_rows));
  for (const int64_t size : {7, 28, 56})
    add_timed("instance_norm/64x" + std::to_string(size) + "x" + std::to_string(size), run, instance_norm(64, size));
  return run_benchmarks(argc, argv);
}
