#include "algorithms/contraction.h"
#include "generators/kernel.h"

namespace saltern::generators {
namespace {

using formula::Value;

Timing cube(int n) { return {std::to_string(n) + " cubed", {{n, n, 1}, {n, n, 1}}, 2.0 * n * n * n}; }

// Transposes are a matter of strides.
const Kernel matmul(
    "matmul",
    [](Build &k) {
      const Value a = k.strided_input("a", {"batch", "m", "k"}), b = k.strided_input("b", {"batch", "k", "n"});
      k.output("y", algorithms::matmul(a, b));
      k.schedule([&](const Machine &m) {
        const auto stride = [&](int input) { return k.buffers()[input].dim(0).stride(); };
        k.by_structure(m, {}, {stride(0) == 1 && stride(1) == 1});
      });
    },
    {{{1, 1, 1}, {1, 1, 1}}, {{7, 3, 2}, {5, 7, 2}}, {{129, 33, 1}, {70, 129, 1}}, {{31, 1, 3}, {65, 31, 3}}},
    {cube(1024), cube(256), cube(64)});

}  // namespace
}  // namespace saltern::generators
