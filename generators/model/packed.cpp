#include "generators/model/packed.h"

#include "generators/model/emitters.h"
#include "schedules/forms/conv2d.h"

namespace saltern::generators {

namespace {

using forms::Tensor;

// The image for every block of output channels.
Tensor for_every_block(const Tensor &x, int blocks) {
  Halide::Var c("c"), g("g"), at_x("x"), at_y("y"), n("n");
  Halide::Func f("image");
  f(c, g, at_x, at_y, n) = x(c, at_x, at_y, n);
  return {f, {x.extent(0), blocks, x.extent(1), x.extent(2), x.extent(3)}};
}

Tensor unpacked(const Tensor &packed) {
  Halide::Var ci("ci"), kx("kx"), ky("ky"), co("co"), g("g");
  Halide::Func f("weights");
  f(ci, kx, ky, co, g) = packed(co, ci, kx, ky, g);
  return {f, {packed.extent(1), packed.extent(2), packed.extent(3), packed.extent(0), packed.extent(4)}};
}

bool fills_panels(const Geometry &g) { return g.channels_out % panel == 0; }

}  // namespace

std::vector<EmittedArgument> packed_arguments(const Graph &graph, const Graph::Node &node, const Geometry &g) {
  const saltern::Tensor bias = node.inputs.size() > 2 ? graph.value(node.inputs[2]).constant : saltern::Tensor();
  return {{{panel, g.channels_in, g.kernel_x, g.kernel_y, panels(g)},
           "",
           packed_weights(graph.value(node.inputs[1]).constant, geometry_of(graph, node))},
          {{panel, panels(g)}, "", packed_bias(bias, g)}};
}

Tensor packed_sums(const Tensor &image, const Tensor &weights, const Tensor &bias, const Geometry &g) {
  return forms::conv2d(for_every_block(image, panels(g)), unpacked(weights), bias, expressions(g.sliding));
}

Tensor packed_result(const Tensor &sums, const Geometry &g, const Epilogue &epilogue,
                     const std::vector<Tensor> &operands) {
  Halide::Var co("co"), block("block"), c("c"), x("x"), y("y"), n("n");
  Halide::Func result("result");
  if (fills_panels(g))
    result(co, block, x, y, n) = epilogue(sums(co, block, x, y, n), operands, {co + panel * block, x, y, n});
  else
    result(c, x, y, n) = epilogue(sums(c % panel, c / panel, x, y, n), operands, {c, x, y, n});
  const std::vector<int> extents = packed_result_extents(g);
  return {result, {extents.begin(), extents.end()}};
}

std::vector<int> packed_result_extents(const Geometry &g) {
  if (fills_panels(g)) return {panel, panels(g), g.out_width(), g.out_height(), g.batch};
  return {g.channels_out, g.out_width(), g.out_height(), g.batch};
}

schedules::PackedConvolutionShape shape_of(const Geometry &g) {
  const Sliding<int> &y = g.sliding.y;
  schedules::PackedConvolutionShape s = {};
  s.panel = panel;
  s.blocks = panels(g);
  s.width = g.out_width();
  s.height = g.out_height();
  s.flops = g.flops();
  s.weight_bytes = 4.0 * panel * s.blocks * g.channels_in * g.kernel_x * g.kernel_y;
  if (g.is_padded())
    s.padded_row_bytes = 4 * g.channels_in * (g.width + g.sliding.x.pad_before + g.sliding.x.pad_after);
  s.stride = y.stride;
  s.window = y.dilation * (g.kernel_y - 1) + 1;
  s.taps = g.kernel_x;
  return s;
}

}  // namespace saltern::generators
