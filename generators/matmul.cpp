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

// The same, and c(n) besides, of few columns or few steps: tiles are of one vector of columns and many rows, so that few
// lanes are idle, and products of a batch share out its threads.
const Kernel tall_matmul(
    "tall_matmul",
    [](Build &k) {
      const Value a = k.strided_input("a", {"batch", "m", "k"}), b = k.strided_input("b", {"batch", "k", "n"});
      const Value product = algorithms::matmul(a, b);
      Halide::Func out = k.output("y", product + k.input("c", {"n"}));
      k.schedule([&](const Machine &m) {
        const schedules::ContractionKnobs knobs = {1, 12, 1};
        schedules::contraction({out, k.stage(product).func, k.stage(product).by_column, 0}, m, k.tuned(knobs));
        // Steps side by side, or rows.
        const Halide::ImageParam of_rows = k.buffers()[0], of_columns = k.buffers()[1];
        for (const int dense : {0, 1})
          out.specialize(of_rows.dim(dense).stride() == 1 && of_columns.dim(0).stride() == 1);
      });
    },
    {{{1, 1, 1}, {1, 1, 1}, {1}},
     {{7, 3, 2}, {5, 7, 2}, {5}},
     {{129, 33, 1}, {16, 129, 1}, {16}},
     {{31, 12, 3}, {17, 31, 3}, {17}}},
    {{"5018 x 25 x 6", {{25, 5018, 1}, {6, 25, 1}, {6}}, 2.0 * 5018 * 25 * 6},
     {"800 x 150 x 16", {{150, 800, 1}, {16, 150, 1}, {16}}, 2.0 * 800 * 150 * 16}});

// The same of many products with one b, which lies in panels of 32 columns as (panel, k, column): packed before.
const Kernel matmul_packed("matmul_packed",
                           [](Build &k) {
                             const Value a = k.input("a", {"m", "k"}), b = k.input("b", {"panels", "k", "32"});
                             const Value y = algorithms::einsum("mk,pkc->mpc", a, b);
                             Halide::Func out = k.output("y", y);
                             k.schedule([&](const Machine &m) {
                               using Halide::TailStrategy;
                               const auto knobs = k.tuned(schedules::ContractionKnobs::fitting(m));
                               const int lanes = m.float_lanes();
                               const Halide::Var column("column"), row("row"), tile_column("tile_column"),
                                   tile_row("tile_row"), c = out.args()[0], panel = out.args()[1];
                               out.bound(c, 0, 32)
                                   .split(c, tile_column, column, knobs.column_vectors * lanes,
                                          TailStrategy::GuardWithIf)
                                   .split(out.args()[2], tile_row, row, knobs.rows, TailStrategy::GuardWithIf)
                                   .reorder(column, row, tile_row, tile_column, panel)
                                   .vectorize(column, lanes)
                                   .unroll(column)
                                   .unroll(row)
                                   .parallel(panel);
                               schedules::register_tile(k.stage(y).func, 2, {out, tile_row}, lanes, knobs);
                             });
                           },
                           {{{1, 1}, {32, 1, 1}}, {{7, 3}, {32, 7, 2}}, {{129, 33}, {32, 129, 3}}},
                           {{"32 x 256 x 1024", {{256, 32}, {32, 256, 32}}, 2.0 * 32 * 256 * 1024}});

}  // namespace
}  // namespace saltern::generators
