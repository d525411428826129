#include "algorithms/normalisation.h"
#include "generators/kernel.h"

namespace saltern::generators {
namespace {

using formula::Value;

constexpr int demo_pixels = 64 * 28 * 28;

// p runs over all pixels of all images.
Value image(Build &k, const std::string &name, Range range = {}) { return k.input(name, {"p", "c"}, Type::f32, range); }
Value of_channels(Build &k, const std::string &name, Range range = {}) {
  return k.input(name, {"c"}, Type::f32, range);
}
algorithms::Statistics statistics(Build &k) {
  const Value mean = of_channels(k, "mean");
  return {mean, of_channels(k, "variance", {0.5, 2})};
}

const Kernel batch_norm_statistics("batch_norm_statistics",
                                   [](Build &k) {
                                     const auto s = algorithms::statistics(image(k, "x", {3, 5}));
                                     k.separate_outputs({"mean", "variance"}, {s.mean, s.variance});
                                   },
                                   {{{1, 1}}, {{1, 300}}, {{3, 129}}, {{8, 128}}, {{33, 257}}, {{70, 7}}},
                                   {{"demo", {{32, demo_pixels}}, 4.0 * 32 * demo_pixels}});

const Kernel batch_norm("batch_norm",
                        [](Build &k) {
                          const Value x = image(k, "x");
                          const algorithms::Statistics s = statistics(k);
                          const Value scale = of_channels(k, "scale"), shift = of_channels(k, "shift");
                          k.output("y", algorithms::batch_norm(x, s, scale, shift, k.parameter("epsilon")));
                        },
                        {{{1, 1}, {1}, {1}, {1}, {1}, 1e-5},
                         {{1, 300}, {1}, {1}, {1}, {1}, 1e-5},
                         {{3, 129}, {3}, {3}, {3}, {3}, 1e-3},
                         {{33, 257}, {33}, {33}, {33}, {33}, 1e-5}},
                        {{"demo", {{32, demo_pixels}, {32}, {32}, {32}, {32}, 1e-5}, 3.0 * 32 * demo_pixels}});

// Both gradients take the same arguments; they differ in whether the statistics are of x.
void gradient(Build &k, algorithms::StatisticsOf whose) {
  const Value x = image(k, "x");
  const algorithms::Statistics s = statistics(k);
  const Value scale = of_channels(k, "scale"), dy = image(k, "dy");
  const auto g = algorithms::batch_norm_gradient(x, s, scale, dy, k.parameter("epsilon"), whose);
  k.separate_outputs({"dx", "dscale", "dshift"}, {g.x, g.scale, g.shift});
}

const std::vector<Call> gradient_calls = {{{1, 1}, {1}, {1}, {1}, {1, 1}, 1e-5},
                                          {{1, 300}, {1}, {1}, {1}, {1, 300}, 1e-5},
                                          {{3, 129}, {3}, {3}, {3}, {3, 129}, 1e-3},
                                          {{33, 257}, {33}, {33}, {33}, {33, 257}, 1e-5},
                                          {{70, 7}, {70}, {70}, {70}, {70, 7}, 1e-5}};
const std::vector<Timing> gradient_timings = {
    {"demo", {{32, demo_pixels}, {32}, {32}, {32}, {32, demo_pixels}, 1e-5}, 9.0 * 32 * demo_pixels}};

const Kernel batch_norm_gradient(
    "batch_norm_gradient", [](Build &k) { gradient(k, algorithms::StatisticsOf::x); }, gradient_calls,
    gradient_timings);

const Kernel batch_norm_inference_gradient(
    "batch_norm_inference_gradient", [](Build &k) { gradient(k, algorithms::StatisticsOf::others); }, gradient_calls,
    gradient_timings);

}  // namespace
}  // namespace saltern::generators
