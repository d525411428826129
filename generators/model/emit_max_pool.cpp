#include "algorithms/pool.h"
#include "generators/model/emitters.h"
#include "generators/model/geometry.h"
#include "schedules/patterns/window.h"

namespace saltern::generators {

// The maxima without their positions, which only training needs: the library's kernel gives both.
EmittedKernel emit_max_pool(const Graph &graph, const Group &group) {
  const Graph::Node &node = group.anchor();
  const Shape &x = graph.value(node.inputs.at(0)).shape;
  if (x.size() != 4) fail("an input of ", saltern::to_string(x), "; expected an image (N, C, H, W)");
  if (node.outputs.size() > 1 && graph.uses(node.outputs[1]) > 0)
    fail("'", node.outputs[1], "', the positions of the maxima, is read; compiled models have the maxima only");
  const PoolWindow w = pool_window(node.attributes);
  EmittedKernel k;
  k.key = "max_pool2d " + saltern::to_string(x) + to_string(w);
  k.arguments = {argument(graph, node.inputs[0], memory_extents(graph.value(node.inputs[0]))),
                 argument(graph, node.outputs[0], memory_extents(graph.value(node.outputs[0])))};
  const Call call = {k.arguments[0].extents};
  k.build = [w, call](const Halide::Target &target) {
    Build b(target, Build::Schedule::own, call);
    const dsl::Tensor best = algorithms::max_pool2d(b.input("x", 4), {w.kernel_x, w.kernel_y, expressions(w.sliding)});
    const std::vector<Halide::Var> at = best.func().args();
    Halide::Func maximum("maximum");
    maximum(at) = best.func()(at)[0];
    const Halide::Func out = b.output("y", {maximum, best.extents()});
    b.schedule([&](const Machine &m) { schedules::window(out, best.func(), m); });
    b.finish(nullptr);
    return b;
  };
  return k;
}

}  // namespace saltern::generators
