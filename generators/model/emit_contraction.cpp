#include "generators/model/emitters.h"
#include "generators/model/packed.h"

namespace saltern::generators {

namespace {

Build build(const Halide::Target &target, const Geometry &g, const Epilogue &epilogue, const Call &call) {
  Build b(target, Build::Schedule::own, call);
  const WindowSums y = packed_sums(b, declared(b, "x", {g.batch, g.height, g.width, g.channels_in}), g);
  const Halide::Func out = b.output("y", packed_result(y.biased, g, epilogue, epilogue.inputs(b, 4)));
  b.schedule([&](const Machine &m) {
    schedules::packed_convolution({out, y.sums, y.padded, g.channels_in}, shape_of(g), m,
                                  schedules::PackedConvolutionKnobs::fitting(m, shape_of(g)));
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
  const Geometry g = simplified(geometry_of(graph, node));
  EmittedKernel k;
  const Epilogue epilogue(graph, group);
  k.key = "contraction" + to_string(g) + epilogue.key();
  const Layout layout = node.operation == "dense" ? Layout::row_major : Layout::channels_last;
  k.arguments.push_back(argument(graph, node.inputs[0], {g.channels_in, g.width, g.height, g.batch}, layout));
  for (EmittedArgument &a : packed_arguments(graph, node, g)) k.arguments.push_back(std::move(a));
  for (EmittedArgument &a : epilogue.arguments({g.channels_out, g.out_width(), g.out_height(), g.batch}))
    k.arguments.push_back(std::move(a));
  Call call;
  for (const EmittedArgument &a : k.arguments) call.emplace_back(a.extents);
  k.arguments.push_back(argument(graph, group.output(), packed_result_extents(g), layout));
  k.can_fail = schedules::strip_is_on_heap(shape_of(g));
  k.build = [g, epilogue, call](const Halide::Target &target) { return build(target, g, epilogue, call); };
  return k;
}

}  // namespace saltern::generators
