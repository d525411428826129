#include "algorithms/conv2d.h"
#include "dsl/padding.h"
#include "generators/model/emitters.h"
#include "generators/model/epilogue.h"
#include "generators/model/geometry.h"
#include "schedules/patterns/packed_convolution.h"

namespace saltern::generators {

namespace {

using dsl::Tensor;

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

schedules::PackedConvolutionShape shape_of(const Geometry &g) {
  const Sliding<int> &y = g.sliding.y;
  return {
      panel,         panels(g),
      g.out_width(), g.out_height(),
      g.flops(),     g.is_padded() ? 4 * g.channels_in * (g.width + g.sliding.x.pad_before + g.sliding.x.pad_after) : 0,
      y.stride,      y.dilation * (g.kernel_y - 1) + 1};
}

Build build(const Halide::Target &target, const Geometry &g, const Epilogue &epilogue, const Call &call) {
  Build b(target, Build::Schedule::own, call);
  const int blocks = panels(g);
  const Tensor x = b.input("x", 4), w = b.input("w", 5), bias = b.input("b", 2);
  const std::vector<Tensor> operands = epilogue.inputs(b, 4);

  const Tensor image = g.is_padded() ? dsl::zero_padded(x) : x;
  const Tensor y = algorithms::conv2d(for_every_block(image, blocks), unpacked(w), bias, expressions(g.sliding));

  // Whole panels of channels are a dimension of their own; a last panel that is not full is left to a guard.
  const bool whole_panels = g.channels_out % panel == 0;
  Halide::Var co("co"), block("block"), c("c"), at_x("x"), at_y("y"), n("n");
  const Halide::Expr channel = whole_panels ? co + panel * block : Halide::Expr(c);
  const std::vector<Halide::Expr> at = {channel, at_x, at_y, n};
  Halide::Func result("result");
  std::vector<Halide::Expr> extents;
  if (whole_panels) {
    result(co, block, at_x, at_y, n) = epilogue(y(co, block, at_x, at_y, n), operands, at);
    extents = {panel, blocks, g.out_width(), g.out_height(), g.batch};
  } else {
    result(c, at_x, at_y, n) = epilogue(y(c % panel, c / panel, at_x, at_y, n), operands, at);
    extents = {g.channels_out, g.out_width(), g.out_height(), g.batch};
  }
  const Halide::Func out = b.output("y", {result, extents});
  b.schedule([&](const Machine &m) {
    schedules::packed_convolution({out, y.func(), g.is_padded() ? image.func() : Halide::Func(), g.channels_in},
                                  shape_of(g), m, schedules::PackedConvolutionKnobs::fitting(m, shape_of(g)));
  });
  b.finish(nullptr);
  return b;
}

}  // namespace

bool has_packed_form(const Graph &graph, const Graph::Node &node) {
  if (node.operation != "dense" && node.operation != "conv2d") return false;
  if (node.attributes.integer("groups", 1) != 1) return false;
  for (size_t i = 1; i < node.inputs.size(); ++i)
    if (!graph.value(node.inputs[i]).constant.defined()) return false;
  return true;
}

EmittedKernel emit_contraction(const Graph &graph, const Group &group) {
  const Graph::Node &node = group.anchor();
  const Geometry given = geometry_of(graph, node), g = simplified(given);
  const saltern::Tensor bias = node.inputs.size() > 2 ? graph.value(node.inputs[2]).constant : saltern::Tensor();
  EmittedKernel k;
  const Epilogue epilogue(graph, group);
  k.key = "contraction" + to_string(g) + epilogue.key();
  k.arguments.push_back(argument(graph, node.inputs[0], {g.channels_in, g.width, g.height, g.batch}));
  k.arguments.push_back({{panel, g.channels_in, g.kernel_x, g.kernel_y, panels(g)},
                         "",
                         packed_weights(graph.value(node.inputs[1]).constant, given)});
  k.arguments.push_back({{panel, panels(g)}, "", packed_bias(bias, g)});
  const std::vector<int> result = {g.channels_out, g.out_width(), g.out_height(), g.batch};
  for (EmittedArgument &a : epilogue.arguments(result)) k.arguments.push_back(std::move(a));
  Call call;
  for (const EmittedArgument &a : k.arguments) call.emplace_back(a.extents);
  const std::vector<int> by_panel = {panel, panels(g), g.out_width(), g.out_height(), g.batch};
  k.arguments.push_back(argument(graph, group.output(), g.channels_out % panel == 0 ? by_panel : result));
  k.can_fail = schedules::strip_is_on_heap(shape_of(g));
  k.build = [g, epilogue, call](const Halide::Target &target) { return build(target, g, epilogue, call); };
  return k;
}

}  // namespace saltern::generators
