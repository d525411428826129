// The README's example: a layer from its formula alone, without a gradient or a schedule of its own.
//
//   y(c, n) = scale(c) tanh(x(c, n))

#include "generators/formula.h"

namespace saltern::generators {
namespace {

const Formula scaled_tanh("scaled_tanh", {{"x", 2}, {"scale", 1}},
                          [](const std::vector<dsl::Tensor> &in) -> dsl::Tensor {
                            Halide::Var c("c"), n("n");
                            Halide::Func y("scaled");
                            y(c, n) = in[1](c) * Halide::tanh(in[0](c, n));
                            return {y, in[0].extents()};
                          },
                          {{{64, 32}, {64}}, {{7, 3}, {7}}, {{1, 1}, {1}}});

}  // namespace
}  // namespace saltern::generators
