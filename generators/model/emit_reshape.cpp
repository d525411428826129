#include "generators/model/emitters.h"
#include "schedules/patterns/elementwise.h"

namespace saltern::generators {

// An image turned to row-major memory, or the other way round: (channels, pixels, n) <-> (pixels, channels, n). The
// side that is no image is row-major already; a reshape from image to image of another shape takes both ways.
EmittedKernel emit_reshape(const Graph &graph, const Group &group) {
  const std::string &from = group.anchor().inputs[0], &to = group.output();
  const Shape &x = graph.value(from).shape, &y = graph.value(to).shape;
  if (elements(x) != elements(y)) fail("a reshape from ", to_string(x), " to ", to_string(y));
  if (x.size() == 4 && y.size() == 4) fail("a reshape from image to image; reshape to rows in between");
  const bool leaves_image = x.size() == 4;
  const Shape &image = leaves_image ? x : y;
  const int channels = static_cast<int>(image[1]), pixels = static_cast<int>(image[2] * image[3]),
            batch = static_cast<int>(image[0]);
  const std::vector<int> read =
      leaves_image ? std::vector<int>{channels, pixels, batch} : std::vector<int>{pixels, channels, batch};
  const std::vector<int> written = {read[1], read[0], read[2]};
  EmittedKernel k;
  k.key = "turn " + std::to_string(read[0]) + " " + std::to_string(read[1]) + " " + std::to_string(read[2]);
  k.arguments = {argument(graph, from, read), argument(graph, to, written)};
  k.can_fail = false;
  k.build = [read, written](const Halide::Target &target) {
    Build b(target, Build::Schedule::own, Call{read});
    const dsl::Tensor in = b.input("x", 3);
    Halide::Var i("i"), j("j"), n("n");
    Halide::Func turned("turned");
    turned(i, j, n) = in(j, i, n);
    const Halide::Func out = b.output("y", {turned, {written[0], written[1], written[2]}});
    b.schedule([&](const Machine &m) { schedules::elementwise(out, m); });
    b.finish(nullptr);
    return b;
  };
  return k;
}

}  // namespace saltern::generators
