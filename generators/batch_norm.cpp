#include "algorithms/batch_norm.h"

#include "generators/kernel.h"
#include "schedules/patterns/normalisation.h"

namespace saltern::generators {
namespace {

using dsl::Tensor;
using Halide::Expr;
using Halide::Func;

constexpr int demo_pixels = 64 * 28 * 28;

const Kernel batch_norm_statistics("batch_norm_statistics",
                                   [](Build &k) {
                                     const Tensor x = k.input("x", 2, Halide::Float(32), {3, 5});
                                     const auto s = algorithms::batch_norm_statistics(x);
                                     k.output("mean", s.mean);
                                     k.output("variance", s.variance);
                                     k.schedule([&](const Machine &m) {
                                       schedules::over_rows(s.sum, x.extent(0), m);
                                       schedules::over_rows(s.squares, x.extent(0), m);
                                       s.mean.func().compute_root();
                                     });
                                   },
                                   {{{1, 1}}, {{1, 300}}, {{3, 129}}, {{8, 128}}, {{33, 257}}, {{70, 7}}},
                                   {{"demo", {{32, demo_pixels}}, 4.0 * 32 * demo_pixels}});

const Kernel batch_norm("batch_norm",
                        [](Build &k) {
                          const Tensor x = k.input("x", 2), mean = k.input("mean", 1);
                          const Tensor variance = k.input("variance", 1, Halide::Float(32), {0.5, 2});
                          const Tensor scale = k.input("scale", 1), shift = k.input("shift", 1);
                          const Tensor factor = algorithms::batch_norm_factor(variance, scale, k.real("epsilon"));
                          const Func out = k.output("y", algorithms::batch_norm(x, mean, factor, shift));
                          k.schedule([&](const Machine &m) { schedules::each_channel(out, {factor.func()}, m); });
                        },
                        {{{1, 1}, {1}, {1}, {1}, {1}, 1e-5},
                         {{1, 300}, {1}, {1}, {1}, {1}, 1e-5},
                         {{3, 129}, {3}, {3}, {3}, {3}, 1e-3},
                         {{33, 257}, {33}, {33}, {33}, {33}, 1e-5}},
                        {{"demo", {{32, demo_pixels}, {32}, {32}, {32}, {32}, 1e-5}, 3.0 * 32 * demo_pixels}});

// Both gradients take the same arguments; they differ in whether the statistics are of x.
void gradient(Build &k, algorithms::Statistics statistics) {
  const Tensor x = k.input("x", 2), mean = k.input("mean", 1);
  const Tensor variance = k.input("variance", 1, Halide::Float(32), {0.5, 2});
  const Tensor scale = k.input("scale", 1), dy = k.input("dy", 2);
  const auto g = algorithms::batch_norm_gradient(x, mean, variance, scale, dy, k.real("epsilon"), statistics);
  const Func dx = k.output("dx", g.x);
  k.output("dscale", g.scale);
  k.output("dshift", g.shift);
  k.schedule([&](const Machine &m) {
    schedules::over_rows(g.sums, x.extent(0), m);
    schedules::each_channel(dx, {g.factors}, m);
  });
}

const std::vector<Call> gradient_calls = {{{1, 1}, {1}, {1}, {1}, {1, 1}, 1e-5},
                                          {{1, 300}, {1}, {1}, {1}, {1, 300}, 1e-5},
                                          {{3, 129}, {3}, {3}, {3}, {3, 129}, 1e-3},
                                          {{33, 257}, {33}, {33}, {33}, {33, 257}, 1e-5},
                                          {{70, 7}, {70}, {70}, {70}, {70, 7}, 1e-5}};
const std::vector<Timing> gradient_timings = {
    {"demo", {{32, demo_pixels}, {32}, {32}, {32}, {32, demo_pixels}, 1e-5}, 9.0 * 32 * demo_pixels}};

const Kernel batch_norm_gradient(
    "batch_norm_gradient", [](Build &k) { gradient(k, algorithms::Statistics::of_x); }, gradient_calls,
    gradient_timings);

const Kernel batch_norm_inference_gradient(
    "batch_norm_inference_gradient", [](Build &k) { gradient(k, algorithms::Statistics::constant); }, gradient_calls,
    gradient_timings);

}  // namespace
}  // namespace saltern::generators
