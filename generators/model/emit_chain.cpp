#include "algorithms/convolution.h"
#include "dsl/axis_order.h"
#include "dsl/sums.h"
#include "generators/model/chains.h"
#include "generators/model/emitters.h"
#include "generators/model/packed.h"
#include "schedules/patterns/chain.h"

namespace saltern::generators {

namespace {

using formula::Value;

struct Link {
  Geometry geometry;
  bool is_depthwise;
  Epilogue epilogue;
};

std::vector<int> result_extents(const Geometry &g) { return {g.channels_out, g.out_width(), g.out_height(), g.batch}; }

// The sums of a link whose every channel has an image of its own. It reads past the sides of that in registers; rows of a
// window above and below it are left out.
WindowSums depthwise_sums(Build &b, const Value &image, const Geometry &g, const std::string &number) {
  const Value w = declared(b, "w" + number, {g.kernel_y, g.kernel_x, g.channels_out}),
              bias = declared(b, "b" + number, {g.channels_out});
  b.stages().keep_tiles_inside();
  constexpr int side = 2;
  b.stages().read_as_zero_outside(image, {side});
  const Value pixels = formula::permuted(image, {0, 3, 1, 2});
  Value sums = formula::in_order(algorithms::depthwise(pixels, w, slides(g.sliding)), {0, 2, 3, 1});
  if (!sums->is_map()) sums = formula::asked_first(sums);
  const Value biased = formula::named("biased", sums + bias);
  b.stages().add({biased});
  return {b.stages().stored(biased), b.stage(sums).func, {}};
}

// What a link makes of its sums, over (c, x, y, n).
forms::Tensor result(const Link &link, const forms::Tensor &sums, const std::vector<forms::Tensor> &operands) {
  Halide::Var c("c"), x("x"), y("y"), n("n");
  Halide::Func f("link");
  const Halide::Expr sum = link.is_depthwise ? sums(c, x, y, n) : sums(c % panel, c / panel, x, y, n);
  f(c, x, y, n) = link.epilogue(sum, operands, {c, x, y, n});
  const std::vector<int> extents = result_extents(link.geometry);
  return {f, {extents.begin(), extents.end()}};
}

Build build(const Halide::Target &target, const std::vector<Link> &links, const schedules::ChainKnobs &knobs,
            const Call &call) {
  Build b(target, Build::Schedule::own, call);
  const Geometry &first = links[0].geometry;
  Value image = declared(
      b, "x", {first.batch, first.height, first.width, links[0].is_depthwise ? first.channels_out : first.channels_in});
  std::vector<schedules::ChainLink> stages;
  for (const Link &link : links) {
    const Geometry &g = link.geometry;
    const std::string number = std::to_string(stages.size());
    const WindowSums y = (link.is_depthwise ? depthwise_sums : packed_sums)(b, image, g, number);
    const std::vector<forms::Tensor> operands = link.epilogue.inputs(b, 4);
    const bool last = stages.size() + 1 == links.size();
    const forms::Tensor made = last && !link.is_depthwise ? packed_result(y.biased, g, link.epilogue, operands)
                                                          : result(link, y.biased, operands);
    stages.push_back(
        {last ? b.output("y", made) : made.func(), y.sums, y.padded, link.is_depthwise, g.channels_in, shape_of(g)});
    if (last) break;
    image = formula::input("image" + number, {g.batch, g.out_height(), g.out_width(), g.channels_out});
    b.stages().add_input(image, made.func());
  }
  b.schedule([&](const Machine &m) { schedules::chain(stages, m, knobs); });
  b.finish(nullptr);
  return b;
}

// An operand of an epilogue between links: one with an element for each channel goes on to the end of the last panel.
EmittedArgument filled(EmittedArgument a) {
  if (!a.constant.defined() || a.extents.size() > 1 || a.extents[0] == 1) return a;
  a.constant = filled_panels(a.constant);
  a.extents = {static_cast<int>(a.constant.shape()[0])};
  return a;
}

std::vector<EmittedArgument> depthwise_arguments(const Graph &graph, const Graph::Node &node, const Geometry &g) {
  EmittedArgument bias = {{g.channels_out}, "", Tensor::zeros({g.channels_out})};
  if (node.inputs.size() > 2) bias = argument(graph, node.inputs[2], {g.channels_out}, Layout::row_major);
  return {{{g.channels_out, g.kernel_x, g.kernel_y}, "", channels_innermost(graph.value(node.inputs[1]).constant)},
          bias};
}

}  // namespace

EmittedKernel emit_chain(const Graph &graph, const Chain &chain) {
  EmittedKernel k;
  std::vector<Link> links;
  std::vector<Geometry> geometries;
  k.key = "chain";
  for (const Group &group : chain.links) {
    const Graph::Node &node = group.anchor();
    const bool depthwise = is_depthwise(graph, node), last = &group == &chain.links.back();
    const Geometry g = link_geometry(graph, node);
    if (links.empty())
      k.arguments.push_back(
          argument(graph, node.inputs[0], image_extents(graph.value(node.inputs[0]).shape), Layout::channels_last));
    links.push_back({g, depthwise, Epilogue(graph, group)});
    geometries.push_back(g);
    k.key += (depthwise ? " depthwise" : " packed") + to_string(g) + links.back().epilogue.key();
    for (EmittedArgument &a : depthwise ? depthwise_arguments(graph, node, g) : packed_arguments(graph, node, g))
      k.arguments.push_back(std::move(a));
    for (EmittedArgument &a : links.back().epilogue.arguments(result_extents(g)))
      k.arguments.push_back(last || depthwise ? std::move(a) : filled(std::move(a)));
  }
  Call call;
  for (const EmittedArgument &a : k.arguments) call.emplace_back(a.extents);
  const Link &last = links.back();
  k.arguments.push_back(argument(
      graph, chain.output(), last.is_depthwise ? result_extents(last.geometry) : packed_result_extents(last.geometry),
      Layout::channels_last));
  const schedules::ChainKnobs knobs = chain_knobs(geometries);
  k.can_fail = links.size() > 1;  // memory between links
  k.build = [links, knobs, call](const Halide::Target &target) { return build(target, links, knobs, call); };
  return k;
}

}  // namespace saltern::generators
