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

const Kernel rms_norm("rms_norm",
                      [](Build &k) {
                        const Value x = k.input("x", {"n", "c"}), scale = k.input("scale", {"c"});
                        k.output("y", algorithms::rms_norm(x, scale, k.parameter("epsilon")));
                      },
                      {{{1, 1}, {1}, 1e-5}, {{7, 3}, {7}, 1e-3}, {{16, 9}, {16}, 1e-5}, {{769, 5}, {769}, 1e-6}},
                      {{"transformer", {{2048, 128}, {2048}, 1e-6}, 4.0 * 2048 * 128}});

}  // namespace
}  // namespace saltern::generators
