#include "generators/model/emitters.h"
#include "generators/model/geometry.h"
#include "schedules/forms/pool.h"
#include "schedules/patterns/window.h"

namespace saltern::generators {

namespace {

// Whether every window covers a pixel of each row and column that it reaches over: then what lies outside can be read
// as the pixel at the edge, which is in the window anyhow.
bool edges_are_covered(const PoolWindow &w) {
  const auto covered = [](const Sliding<int> &s, int kernel) {
    return s.dilation == 1 && s.pad_before < kernel && s.pad_after < kernel;
  };
  return covered(w.sliding.x, w.kernel_x) && covered(w.sliding.y, w.kernel_y);
}

forms::Tensor maxima_over_edges(const forms::Tensor &x, const PoolWindow &w) {
  const forms::Window2d window = {w.kernel_x, w.kernel_y, expressions(w.sliding)};
  Halide::Var c("c"), at_x("x"), at_y("y"), n("n");
  Halide::RDom k(0, w.kernel_x, 0, w.kernel_y, "k");
  Halide::Func best("maxima");
  best(c, at_x, at_y, n) = x.type().min();
  const Halide::Expr value = forms::pool_detail::element(x, window, k, c, at_x, at_y, n).value;
  best(c, at_x, at_y, n) = Halide::select(value > best(c, at_x, at_y, n), value, best(c, at_x, at_y, n));
  return {best, forms::pool_detail::extents(x, window)};
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
  k.build = [w, call](const Halide::Target &target) {
    Build b(target, Build::Schedule::own, call);
    const forms::Tensor in = b.input("x", 4);
    const forms::Tensor best = edges_are_covered(w)
                                   ? maxima_over_edges(in, w)
                                   : forms::max_pool2d(in, {w.kernel_x, w.kernel_y, expressions(w.sliding)});
    const std::vector<Halide::Var> at = best.func().args();
    Halide::Func maximum("maximum");
    maximum(at) = best.func().outputs() == 1 ? best(at) : best.func()(at)[0];
    const Halide::Func out = b.output("y", {maximum, best.extents()});
    b.schedule([&](const Machine &m) { schedules::window(out, best.func(), m); });
    b.finish(nullptr);
    return b;
  };
  return k;
}

}  // namespace saltern::generators
