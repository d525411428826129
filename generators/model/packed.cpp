#include "generators/model/packed.h"

#include "algorithms/convolution.h"
#include "dsl/axis_order.h"
#include "generators/model/emitters.h"

namespace saltern::generators {

namespace {

using formula::Value;

bool fills_panels(const Geometry &g) { return g.channels_out % panel == 0; }

}  // namespace

std::vector<EmittedArgument> packed_arguments(const Graph &graph, const Graph::Node &node, const Geometry &g) {
  const Tensor bias = node.inputs.size() > 2 ? graph.value(node.inputs[2]).constant : Tensor();
  return {{{panel, g.channels_in, g.kernel_x, g.kernel_y, panels(g)},
           "",
           packed_weights(graph.value(node.inputs[1]).constant, geometry_of(graph, node))},
          {{panel, panels(g)}, "", packed_bias(bias, g)}};
}

Value declared(Build &b, const std::string &name, const std::vector<int> &extents) {
  const Value v = formula::input(name, {extents.begin(), extents.end()});
  b.declare(v);
  return v;
}

// A block of output channels is a group, whose image is that of all.
WindowSums packed_sums(Build &b, const Value &image, const Geometry &g, const std::string &number) {
  const Value w = declared(b, "w" + number, {panels(g), g.kernel_y, g.kernel_x, g.channels_in, panel}),
              bias = declared(b, "b" + number, {panels(g), panel});
  b.stages().keep_tiles_inside();
  if (g.is_padded()) b.stages().read_as_zero_outside(image);
  const Value for_every_block =
      formula::inlined({g.batch, panels(g), g.channels_in, g.height, g.width},
                       [&](const formula::Axes &at) { return image(at[0], at[3], at[4], at[2]); });
  const Value sums = formula::in_order(
      algorithms::grouped_conv2d(for_every_block, formula::permuted(w, {0, 4, 3, 1, 2}), slides(g.sliding)),
      {0, 3, 4, 1, 2});
  const Value biased = formula::named("biased", sums + bias);
  b.stages().add({biased});
  return {b.stages().stored(biased), b.stage(sums).func, g.is_padded() ? b.stage(image).func : Halide::Func()};
}

forms::Tensor packed_result(const forms::Tensor &sums, const Geometry &g, const Epilogue &epilogue,
                            const std::vector<forms::Tensor> &operands) {
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
