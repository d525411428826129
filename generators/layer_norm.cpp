#include "algorithms/normalisation.h"
#include "generators/kernel.h"

namespace saltern::generators {
namespace {

using formula::Value;

const Kernel layer_norm("layer_norm",
                        [](Build &k) {
                          const Value x = k.input("x", {"n", "c"}, Type::f32, {3, 5});
                          const Value scale = k.input("scale", {"c"}), shift = k.input("shift", {"c"});
                          k.output("y", algorithms::layer_norm(x, scale, shift, k.parameter("epsilon")));
                        },
                        {{{1, 1}, {1}, {1}, 1e-5},
                         {{7, 3}, {7}, {7}, 1e-3},
                         {{16, 9}, {16}, {16}, 1e-5},
                         {{33, 17}, {33}, {33}, 1e-12},
                         {{769, 5}, {769}, {769}, 1e-6}},
                        {{"transformer", {{768, 128}, {768}, {768}, 1e-5}, 8.0 * 768 * 128},
                         {"of 64", {{64, 4096}, {64}, {64}, 1e-5}, 8.0 * 64 * 4096}});

// ---- Its gradient, in three: the moments of rows, m(n, 0) and m(n, 1), which the others are given.

const int rows = 4096, columns = 256;  // of a transformer

Value some_rows(Build &k) { return k.input("x", {"n", "c"}, Type::f32, {3, 5}); }

algorithms::Moments given_moments(Build &k) {
  const Value m = k.input("moments", {"n", "2"});
  const auto column = [&](int which) {
    return formula::inlined({m.extent(0), 1}, [&](const formula::Axes &at) { return m(at[0], which); });
  };
  return {column(0), column(1)};
}

const Kernel layer_norm_moments("layer_norm_moments",
                                [](Build &k) {
                                  const Value x = some_rows(k);
                                  const algorithms::Moments of = algorithms::moments(x, {1}, k.parameter("epsilon"));
                                  k.output("moments",
                                           formula::compute("moments", {x.extent(0), 2}, [&](const formula::Axes &at) {
                                             return select(at[1] == 0, of.mean(at[0], 0), of.factor(at[0], 0));
                                           }));
                                },
                                {{{1, 1}, 1e-5}, {{7, 3}, 1e-3}, {{16, 9}, 1e-5}, {{33, 17}, 1e-3}, {{769, 5}, 1e-6}},
                                {{"transformer", {{columns, rows}, 1e-5}, 4.0 * rows *columns}});

const Kernel layer_norm_gradient_x(
    "layer_norm_gradient_x",
    [](Build &k) {
      const Value x = some_rows(k);
      const algorithms::Moments of = given_moments(k);
      const Value scale = k.input("scale", {"c"}), dy = k.input("dy", {"n", "c"});
      k.output("dx", algorithms::layer_norm_gradient_x(x, of, scale, dy, 1));
    },
    {{{1, 1}, {2, 1}, {1}, {1, 1}},
     {{7, 3}, {2, 3}, {7}, {7, 3}},
     {{16, 9}, {2, 9}, {16}, {16, 9}},
     {{769, 5}, {2, 5}, {769}, {769, 5}}},
    {{"transformer", {{columns, rows}, {2, rows}, {columns}, {columns, rows}}, 10.0 * rows *columns}});

const Kernel layer_norm_gradient_parameters(
    "layer_norm_gradient_parameters",
    [](Build &k) {
      const Value x = some_rows(k);
      const algorithms::Moments of = given_moments(k);
      const auto d = algorithms::layer_norm_gradient_parameters(x, of, k.input("dy", {"n", "c"}), 1);
      k.separate_outputs({"dscale", "dshift"}, {d.scale, d.shift});
      // With 16 lanes, 64 columns and more take 0.83 to 0.99 of the time that blocks of 32 take (AMD Zen 4); with fewer
      // lanes both are 4 vectors.
      k.schedule([&](const Machine &m) {
        schedules::StructureKnobs knobs;
        knobs.columns = 4 * m.float_lanes();
        k.by_structure(m, knobs);
      });
    },
    {{{1, 1}, {2, 1}, {1, 1}},
     {{7, 3}, {2, 3}, {7, 3}},
     {{33, 600}, {2, 600}, {33, 600}},
     {{769, 5}, {2, 5}, {769, 5}}},
    {{"transformer", {{columns, rows}, {2, rows}, {columns, rows}}, 5.0 * rows *columns}});

const Kernel rms_norm("rms_norm",
                      [](Build &k) {
                        const Value x = k.input("x", {"n", "c"}), scale = k.input("scale", {"c"});
                        k.output("y", algorithms::rms_norm(x, scale, k.parameter("epsilon")));
                      },
                      {{{1, 1}, {1}, 1e-5}, {{7, 3}, {7}, 1e-3}, {{16, 9}, {16}, 1e-5}, {{769, 5}, {769}, 1e-6}},
                      {{"transformer", {{2048, 128}, {2048}, 1e-6}, 4.0 * 2048 * 128}});

}  // namespace
}  // namespace saltern::generators
