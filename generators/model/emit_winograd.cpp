#include "generators/model/emitters.h"
#include "generators/model/packed.h"
#include "generators/model/winograd.h"
#include "schedules/forms/winograd.h"
#include "schedules/patterns/winograd.h"

namespace saltern::generators {

namespace {

using formula::Value;

Build build(const Halide::Target &target, const Geometry &g, int tile, const Epilogue &epilogue, const Call &call) {
  Build b(target, Build::Schedule::own, call);
  const schedules::WinogradShape shape = winograd_shape(g, tile);
  const schedules::WinogradCut cut = schedules::winograd_cut(shape);
  const forms::WinogradTiles tiles = {tile, g.out_height(), g.out_width(), cut.images};
  const int patch = tiles.patch();
  const Value image = declared(b, "x", {g.batch, g.height, g.width, g.channels_in}),
              w = declared(b, "w", {panels(g), patch, patch, channel_chunks(g), forms::channel_chunk, panel}),
              bias = declared(b, "b", {panels(g), panel});
  b.stages().keep_tiles_inside();
  b.stages().read_as_zero_outside(image);
  const forms::WinogradStages s = forms::winograd(image, w, tiles, slides(g.sliding));
  const Value biased = formula::named("biased", s.sums + bias);
  b.stages().add({biased});
  const Halide::Func out = b.output("y", packed_result(b.stages().stored(biased), g, epilogue, epilogue.inputs(b, 4)));
  b.schedule([&](const Machine &m) {
    schedules::winograd({out, b.stage(image).func, b.stage(s.across).func, b.stage(s.patches).func,
                         b.stage(s.products).func, b.stage(s.partly).func},
                        shape, cut, m, schedules::WinogradKnobs::fitting(m, shape, cut));
  });
  b.finish(nullptr);
  return b;
}

}  // namespace

EmittedKernel emit_winograd(const Graph &graph, const Group &group) {
  const Graph::Node &node = group.anchor();
  const Geometry g = geometry_of(graph, node);
  if (!has_winograd_form(g)) fail("a window that is not 3 x 3, or that does not slide from pixel to pixel");
  const int tile = winograd_tile(node), patch = tile + 2;
  EmittedKernel k;
  const Epilogue epilogue(graph, group);
  k.key = "winograd " + std::to_string(tile) + to_string(g) + epilogue.key();
  k.arguments.push_back(
      argument(graph, node.inputs[0], {g.channels_in, g.width, g.height, g.batch}, Layout::channels_last));
  k.arguments.push_back({{panel, forms::channel_chunk, channel_chunks(g), patch, patch, panels(g)},
                         "",
                         transformed_weights(graph.value(node.inputs[1]).constant, g, tile)});
  const Tensor bias = node.inputs.size() > 2 ? graph.value(node.inputs[2]).constant : Tensor();
  k.arguments.push_back({{panel, panels(g)}, "", packed_bias(bias, g)});
  for (EmittedArgument &a : epilogue.arguments({g.channels_out, g.out_width(), g.out_height(), g.batch}))
    k.arguments.push_back(std::move(a));
  Call call;
  for (const EmittedArgument &a : k.arguments) call.emplace_back(a.extents);
  k.arguments.push_back(argument(graph, group.output(), packed_result_extents(g), Layout::channels_last));
  k.build = [g, tile, epilogue, call](const Halide::Target &target) { return build(target, g, tile, epilogue, call); };
  return k;
}

}  // namespace saltern::generators
