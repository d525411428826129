#include "generators/model/emitters.h"
#include "generators/model/packed.h"
#include "schedules/forms/integer_convolution.h"
#include "schedules/patterns/integer_depthwise.h"

namespace saltern::generators {

namespace {

using forms::products_at_once;

// What a kernel of integers knows of its node. Rows of pixels are taken as they lie in memory.
struct IntegerProduct {
  Geometry geometry;
  bool depthwise;
  int zero;

  int row_taps() const { return geometry.channels_in * geometry.kernel_x; }
  int fours() const { return (row_taps() + products_at_once - 1) / products_at_once; }
  bool reads_past() const { return geometry.is_padded() || row_taps() % products_at_once != 0; }
  forms::IntegerWindow window() const {
    return {geometry.channels_in, row_taps(), zero, reads_past(), geometry.sliding};
  }
};

IntegerProduct product_of(const Graph &graph, const Graph::Node &node) {
  const bool depthwise = node.attributes.integer("groups", 1) != 1;
  const Geometry g = depthwise ? depthwise_geometry(graph, node) : simplified(geometry_of(graph, node));
  return {g, depthwise, static_cast<int>(node.attributes.integer("zero"))};
}

// As what is not known of f32 kernels is told: a quarter of the work, a quarter of the bytes.
schedules::PackedConvolutionShape integer_shape(const IntegerProduct &p) {
  const Geometry &g = p.geometry;
  schedules::PackedConvolutionShape s = shape_of(g);
  s.flops /= products_at_once;
  s.weight_bytes /= 4;
  s.padded_row_bytes = 0;
  if (p.reads_past())
    s.padded_row_bytes = g.channels_in * (g.width + g.sliding.x.pad_before + g.sliding.x.pad_after) + products_at_once;
  s.taps = 1;
  return s;
}

Build packed_build(const Halide::Target &target, const IntegerProduct &p, const Epilogue &epilogue, const Call &call) {
  Build b(target, Build::Schedule::own, call);
  const forms::Tensor x = b.input("x", 3, Halide::UInt(8)), w = b.input("w", 5, Halide::Int(8)),
                      start = b.input("start", 2, Halide::Int(32));
  const forms::IntegerSums y = forms::integer_convolution(x, w, start, p.window());
  const Geometry &g = p.geometry;
  const forms::Tensor sums(y.sums, {panel, panels(g), g.out_width(), g.out_height(), g.batch});
  const Halide::Func out = b.output("y", packed_result(sums, g, epilogue, epilogue.inputs(b, 4)));
  b.schedule([&](const Machine &m) {
    const schedules::PackedConvolutionShape s = integer_shape(p);
    schedules::packed_convolution({out, y.sums, y.padded, p.row_taps() * panel, true}, s, m,
                                  schedules::PackedConvolutionKnobs::fitting(m, s));
  });
  b.finish(nullptr);
  return b;
}

Build depthwise_build(const Halide::Target &target, const IntegerProduct &p, const Epilogue &epilogue,
                      const Call &call) {
  Build b(target, Build::Schedule::own, call);
  const forms::Tensor x = b.input("x", 4, Halide::UInt(8)), w = b.input("w", 3, Halide::Int(8)),
                      start = b.input("start", 1, Halide::Int(32));
  const forms::IntegerSums y = forms::integer_depthwise(x, w, start, p.window());
  const Geometry &g = p.geometry;
  const Halide::Var c("c"), px("x"), py("y"), n("n");
  Halide::Func result("result");
  const std::vector<forms::Tensor> operands = epilogue.inputs(b, 4);
  result(c, px, py, n) = epilogue(y.sums(c, px, py, n), operands, {c, px, py, n});
  const Halide::Func out =
      b.output("y", forms::Tensor(result, {g.channels_out, g.out_width(), g.out_height(), g.batch}));
  b.schedule([&](const Machine &m) {
    schedules::integer_depthwise({out, y.sums, {}, y.padded}, m,
                                 {g.channels_out, g.out_width(), g.out_height(), g.kernel_x});
  });
  b.finish(nullptr);
  return b;
}

// Weights (O, I, KH, KW) as packed(i, co, t, ky, block), zero past the last tap of a row and the last output.
Tensor packed_bytes(const Tensor &weights, const Geometry &g) {
  const int fours = (g.channels_in * g.kernel_x + products_at_once - 1) / products_at_once;
  const Tensor packed = Tensor::zeros({panels(g), g.kernel_y, fours, panel, products_at_once}, Type::i8);
  int8_t *to = packed.data<int8_t>();
  const Tensor rows = weights.in_layout(Layout::row_major);
  const int8_t *from = rows.data<int8_t>();
  const int taps = g.kernel_x * g.kernel_y;
  for (int block = 0; block < panels(g); ++block)
    for (int ky = 0; ky < g.kernel_y; ++ky)
      for (int t = 0; t < fours; ++t)
        for (int co = 0; co < panel; ++co)
          for (int i = 0; i < products_at_once; ++i, ++to) {
            const int o = block * panel + co, tap = t * products_at_once + i, c = tap % g.channels_in,
                      kx = tap / g.channels_in;
            if (o < g.channels_out && kx < g.kernel_x)
              *to = from[(o * g.channels_in + c) * taps + ky * g.kernel_x + kx];
          }
  return packed;
}

// What sums begin with: x counts from `zero`, but is multiplied as it is.
Tensor starts(const Tensor &weights, int zero, int64_t padded_to) {
  const Tensor rows = weights.in_layout(Layout::row_major), all = Tensor::zeros({padded_to}, Type::i32);
  const int64_t outputs = rows.extent(0), taps = rows.size() / outputs;
  for (int64_t o = 0; o < outputs; ++o) {
    int32_t sum = 0;
    for (int64_t t = 0; t < taps; ++t) sum += rows.data<int8_t>()[o * taps + t];
    all.data<int32_t>()[o] = -zero * sum;
  }
  return all;
}

// A depthwise convolution's weights (C, 1, KH, KW) with their channels innermost.
Tensor bytes_by_channel(const Tensor &weights) {
  const Shape &s = weights.shape(), &from = weights.strides();
  const Tensor to = Tensor::empty({s[2], s[3], s[0]}, Type::i8);
  to.copy_from(weights.viewed(to.shape(), {from[2], from[3], from[0]}));
  return to;
}

}  // namespace

bool is_integer_product(const Graph::Node &node) {
  return node.operation == "integer_conv2d" || node.operation == "integer_dense";
}

EmittedKernel emit_integer_product(const Graph &graph, const Group &group) {
  const Graph::Node &node = group.anchor();
  const Tensor &weights = graph.value(node.inputs.at(1)).constant;
  if (!weights.defined()) fail("its weights are not constant");
  const IntegerProduct p = product_of(graph, node);
  const Geometry &g = p.geometry;
  const Layout layout = node.operation == "integer_dense" ? Layout::row_major : Layout::channels_last;
  const Epilogue epilogue(graph, group);
  EmittedKernel k;
  k.key = std::string("integer ") + (p.depthwise ? "depthwise" : "product") + to_string(g) + " " +
          std::to_string(p.zero) + epilogue.key();
  k.multiplies_bytes = true;
  const std::vector<int> image = p.depthwise ? std::vector<int>{g.channels_out, g.width, g.height, g.batch}
                                             : std::vector<int>{g.channels_in * g.width, g.height, g.batch};
  k.arguments.push_back(argument(graph, node.inputs[0], image, layout, Type::u8));
  if (p.depthwise) {
    k.arguments.push_back({{g.channels_out, g.kernel_x, g.kernel_y}, "", bytes_by_channel(weights), Type::i8});
    k.arguments.push_back({{g.channels_out}, "", starts(weights, p.zero, g.channels_out), Type::i32});
  } else {
    k.arguments.push_back({{products_at_once, panel, p.fours(), g.kernel_y, panels(g)},
                           "",
                           packed_bytes(weights, geometry_of(graph, node)),
                           Type::i8});
    k.arguments.push_back({{panel, panels(g)}, "", starts(weights, p.zero, panels(g) * panel), Type::i32});
  }
  for (EmittedArgument &a : epilogue.arguments({g.channels_out, g.out_width(), g.out_height(), g.batch}))
    k.arguments.push_back(std::move(a));
  Call call;
  for (const EmittedArgument &a : k.arguments) call.emplace_back(a.extents);
  const std::vector<int> result =
      p.depthwise ? std::vector<int>{g.channels_out, g.out_width(), g.out_height(), g.batch} : packed_result_extents(g);
  k.arguments.push_back(argument(graph, group.output(), result, layout, graph.value(group.output()).type));
  k.build = [p, epilogue, call](const Halide::Target &target) {
    return (p.depthwise ? depthwise_build : packed_build)(target, p, epilogue, call);
  };
  return k;
}

}  // namespace saltern::generators
