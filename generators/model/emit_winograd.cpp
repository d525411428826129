#include "generators/model/emitters.h"
#include "generators/model/packed.h"
#include "generators/model/winograd.h"

namespace saltern::generators {

namespace {

using formula::Value;

// Weights as they lie in memory where they are not constant, (O, 3, 3, I), transformed when the kernel runs.
forms::WinogradWeights weights_at_run_time(Build &b, const WinogradNode &node) {
  const Geometry &g = node.geometry;
  constexpr int window = forms::winograd_window;
  const Value w = declared(b, "w", {g.channels_out, window, window, g.channels_in});
  return forms::winograd_weights(formula::permuted(w, {0, 3, 1, 2}), node.tile, panel);
}

Build build(const Halide::Target &target, const WinogradNode &node, const Epilogue &epilogue, const Call &call) {
  const Geometry &g = node.geometry;
  Build b(target, Build::Schedule::own, call);
  const schedules::WinogradShape shape = winograd_shape(g, node.tile);
  const schedules::WinogradCut cut = schedules::winograd_cut(shape);
  const int patch = shape.patch();
  const Value image = declared(b, "x", {g.batch, g.height, g.width, g.channels_in});
  forms::WinogradWeights w;
  if (node.has_constants)
    w.transformed = declared(b, "w", {panels(g), patch, patch, channel_chunks(g), forms::channel_chunk, panel});
  else
    w = weights_at_run_time(b, node);
  Value bias;
  if (node.has_constants) {
    bias = declared(b, "b", {panels(g), panel});
  } else if (node.has_bias) {
    const Value stored = declared(b, "b", {g.channels_out});
    bias = formula::inlined({panels(g), panel},
                            [&](const formula::Axes &at) { return stored.or_zero(at[0] * panel + at[1]); });
  }
  b.stages().keep_tiles_inside();
  b.stages().read_as_zero_outside(image);
  const forms::WinogradStages s =
      forms::winograd(image, w.transformed, {node.tile, g.out_height(), g.out_width(), cut.images}, slides(g.sliding));
  const Value biased = bias.defined() ? formula::named("biased", s.sums + bias) : s.sums;
  b.stages().add({biased});
  const Halide::Func out = b.output("y", packed_result(b.stages().stored(biased), g, epilogue, epilogue.inputs(b, 4)));
  b.schedule([&](const Machine &m) {
    schedules::Winograd stages = {out,
                                  {},
                                  {},
                                  b.stage(image).func,
                                  b.stage(s.across).func,
                                  b.stage(s.patches).func,
                                  b.stage(s.products).func,
                                  b.stage(s.partly).func};
    if (!node.has_constants) {
      stages.windows = b.stage(w.windows).func;
      stages.weights = b.stage(w.transformed).func;
    }
    schedules::winograd(stages, shape, cut, m, schedules::WinogradKnobs::fitting(m, shape, cut));
  });
  b.finish(nullptr);
  return b;
}

std::vector<EmittedArgument> weights_and_bias(const Graph &graph, const Graph::Node &node, const WinogradNode &w) {
  const Geometry &g = w.geometry;
  const int patch = winograd_shape(g, w.tile).patch();
  if (w.has_constants) {
    const Tensor bias = w.has_bias ? graph.value(node.inputs[2]).constant : Tensor();
    return {{{panel, forms::channel_chunk, channel_chunks(g), patch, patch, panels(g)},
             "",
             transformed_weights(graph.value(node.inputs[1]).constant, g, w.tile)},
            {{panel, panels(g)}, "", packed_bias(bias, g)}};
  }
  constexpr int window = forms::winograd_window;
  std::vector<EmittedArgument> all = {
      argument(graph, node.inputs[1], {g.channels_in, window, window, g.channels_out}, Layout::channels_last)};
  if (w.has_bias) all.push_back(argument(graph, node.inputs[2], {g.channels_out}, Layout::row_major));
  return all;
}

}  // namespace

EmittedKernel emit_winograd(const Graph &graph, const Group &group) {
  const Graph::Node &node = group.anchor();
  const std::optional<WinogradNode> form = winograd_form(graph, node);
  if (!form) fail("a window that is not 3 x 3, or that does not slide from pixel to pixel");
  const Geometry &g = form->geometry;
  EmittedKernel k;
  const Epilogue epilogue(graph, group);
  k.key = "winograd " + std::to_string(form->tile) + (form->has_constants ? " constants" : "") +
          (form->has_bias ? " bias" : "") + to_string(g) + epilogue.key();
  k.arguments.push_back(
      argument(graph, node.inputs[0], {g.channels_in, g.width, g.height, g.batch}, Layout::channels_last));
  for (EmittedArgument &a : weights_and_bias(graph, node, *form)) k.arguments.push_back(std::move(a));
  for (EmittedArgument &a : epilogue.arguments({g.channels_out, g.out_width(), g.out_height(), g.batch}))
    k.arguments.push_back(std::move(a));
  Call call;
  for (const EmittedArgument &a : k.arguments) call.emplace_back(a.extents);
  k.arguments.push_back(argument(graph, group.output(), packed_result_extents(g), Layout::channels_last));
  k.build = [form = *form, epilogue, call](const Halide::Target &target) {
    return build(target, form, epilogue, call);
  };
  return k;
}

}  // namespace saltern::generators
