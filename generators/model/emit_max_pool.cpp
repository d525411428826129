#include "algorithms/pooling.h"
#include "dsl/axis_order.h"
#include "generators/model/emitters.h"
#include "generators/model/geometry.h"
#include "schedules/patterns/window.h"

namespace saltern::generators {

namespace {

Build build(const Halide::Target &target, const PoolWindow &w, const Call &call) {
  Build b(target, Build::Schedule::own, call);
  const formula::Value x = formula::permuted(b.input("x", {"n", "height", "width", "c"}), {0, 3, 1, 2});
  const formula::Value y =
      formula::in_order(algorithms::max_pool(x, {w.kernel_y, w.kernel_x}, slides(w.sliding)), {0, 2, 3, 1});
  const Halide::Func out = b.output("y", y);
  b.schedule([&](const Machine &m) { schedules::window(out, b.stage(y).func, m); });
  b.finish(nullptr);
  return b;
}

}  // namespace

// The maxima without their positions, which only training needs: the library's kernel gives both.
EmittedKernel emit_max_pool(const Graph &graph, const Group &group) {
  const Graph::Node &node = group.anchor();
  if (node.outputs.size() > 1 && graph.uses(node.outputs[1]) > 0)
    unsupported("'", node.outputs[1], "', the positions of the maxima, is read; compiled models have the maxima only");
  const PoolWindow w = pool_window(node.attributes);
  EmittedKernel k;
  k.key = "max_pool2d" + to_string(w);
  for (const std::string &value : {node.inputs.at(0), node.outputs[0]})
    k.arguments.push_back(argument(graph, value, image_extents(graph.value(value).shape), Layout::channels_last));
  const Call call = {k.arguments[0].extents};
  k.build = [w, call](const Halide::Target &target) { return build(target, w, call); };
  return k;
}

}  // namespace saltern::generators
