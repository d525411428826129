#include "generators/model/emitters.h"

namespace saltern::generators {

namespace {

// From image to image of another shape: each element by its number in row-major order.
EmittedKernel emit_renumbering(const Graph &graph, const Group &group) {
  const Graph::Node &node = group.anchor();
  const Shape &x = graph.value(node.inputs[0]).shape, &y = graph.value(group.output()).shape;
  formula::Expression number = formula::constant_integer(Type::i64, 0);
  for (size_t d = 0; d < y.size(); ++d) number = number * y[d] + formula::axis(static_cast<int>(d));
  std::vector<formula::Expression> indices(x.size());
  for (size_t d = x.size(); d-- > 0;) {
    indices[d] = number % x[d];
    number = number / x[d];
  }
  Graph::Node moved = node;
  moved.operation = "formula";
  moved.attributes = {{"element", formula::load(0, graph.value(node.inputs[0]).type, indices)}};
  return emit_formula(graph, {{moved}});
}

}  // namespace

// An image turned to row-major memory, or the other way round: (channels, pixels, n) <-> (pixels, channels, n). The
// side that is no image is row-major already.
EmittedKernel emit_reshape(const Graph &graph, const Group &group) {
  const std::string &from = group.anchor().inputs[0], &to = group.output();
  const Shape &x = graph.value(from).shape, &y = graph.value(to).shape;
  if (elements(x) != elements(y)) fail("a reshape from ", saltern::to_string(x), " to ", saltern::to_string(y));
  const bool leaves_image = is_channels_last(graph.value(from));
  if (leaves_image == is_channels_last(graph.value(to))) return emit_renumbering(graph, group);
  const Shape &image = leaves_image ? x : y;
  const int channels = static_cast<int>(image[1]), pixels = static_cast<int>(image[2] * image[3]),
            batch = static_cast<int>(image[0]);
  const std::vector<int> read =
      leaves_image ? std::vector<int>{channels, pixels, batch} : std::vector<int>{pixels, channels, batch};
  const std::vector<int> written = {read[1], read[0], read[2]};
  EmittedKernel k;
  k.key = "turn" + key_of({{}, graph.value(from).type}) + " " + std::to_string(read[0]) + " " +
          std::to_string(read[1]) + " " + std::to_string(read[2]);
  const Type kind = graph.value(from).type;
  const Layout before = leaves_image ? Layout::channels_last : Layout::row_major,
               after = leaves_image ? Layout::row_major : Layout::channels_last;
  k.arguments = {argument(graph, from, read, before, kind), argument(graph, to, written, after, kind)};
  k.can_fail = false;
  k.build = built_by_structure([read, kind] {
    const formula::Value in = formula::input("x", {read[2], read[1], read[0]}, kind);
    return MergedAxes{{in}, {formula::named("turned", formula::permuted(in, {0, 2, 1}))}};
  });
  return k;
}

}  // namespace saltern::generators
