#include "algorithms/layer_norm.h"

#include "generators/kernel.h"
#include "schedules/patterns/normalisation.h"

namespace saltern::generators {
namespace {

using dsl::Tensor;
using Halide::Func;

void schedule(Build &k, const Func &out, const algorithms::RowNorm &norm) {
  k.schedule([&](const Machine &m) {
    const Halide::Var row = schedules::each_row(out, m).row;
    for (const Func &sum : norm.sums) schedules::along_row(sum, out, row, m);
    Func(norm.factor).compute_at(out, row);
  });
}

const Kernel layer_norm("layer_norm",
                        [](Build &k) {
                          const Tensor x = k.input("x", 2, Halide::Float(32), {3, 5});
                          const Tensor scale = k.input("scale", 1), shift = k.input("shift", 1);
                          const auto norm = algorithms::layer_norm(x, scale, shift, k.real("epsilon"));
                          schedule(k, k.output("y", norm.y), norm);
                        },
                        {{{1, 1}, {1}, {1}, 1e-5},
                         {{7, 3}, {7}, {7}, 1e-3},
                         {{16, 9}, {16}, {16}, 1e-5},
                         {{33, 17}, {33}, {33}, 1e-12},
                         {{769, 5}, {769}, {769}, 1e-6}},
                        {{"transformer", {{768, 128}, {768}, {768}, 1e-5}, 8.0 * 768 * 128},
                         {"of 64", {{64, 4096}, {64}, {64}, 1e-5}, 8.0 * 64 * 4096}});

const Kernel rms_norm("rms_norm",
                      [](Build &k) {
                        const Tensor x = k.input("x", 2), scale = k.input("scale", 1);
                        const auto norm = algorithms::rms_norm(x, scale, k.real("epsilon"));
                        schedule(k, k.output("y", norm.y), norm);
                      },
                      {{{1, 1}, {1}, 1e-5}, {{7, 3}, {7}, 1e-3}, {{16, 9}, {16}, 1e-5}, {{769, 5}, {769}, 1e-6}},
                      {{"transformer", {{2048, 128}, {2048}, 1e-6}, 4.0 * 2048 * 128}});

}  // namespace
}  // namespace saltern::generators
