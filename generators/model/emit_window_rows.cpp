// Convolutions of computed weights, and their gradients, whose images have few pixels: products of matrices
// (schedules/forms/window_rows.h).

#include "generators/model/emitters.h"
#include "generators/model/geometry.h"
#include "schedules/forms/window_rows.h"
#include "schedules/patterns/window_rows.h"

namespace saltern::generators {

namespace {

// From so many pixels of a result on, tiles that end with an image are as good.
constexpr int64_t few_pixels = 25;

struct WindowRows {
  std::vector<int> x, w, y;  // extents of (c, g, x, y, n), (ci, kx, ky, co, g)
  Sliding2d<int> sliding;

  WindowRows(const Shape &image, const Shape &weights, const Shape &result, const Attributes &attributes)
      : x(with_group(image_extents(image))), y(with_group(image_extents(result))), sliding(sliding_of(attributes)) {
    w = image_extents(weights);
    w.push_back(1);
  }

  forms::Sliding2d slides() const {
    const auto along = [](const Sliding<int> &s) {
      return forms::Sliding1d{s.stride, s.dilation, s.pad_before, s.pad_after};
    };
    return {along(sliding.x), along(sliding.y)};
  }
  forms::PixelRows pixels() const { return {y[2], y[3], y[4]}; }
  forms::WindowSize window() const { return {w[1], w[2]}; }
  int windows_per_image() const { return y[2] * y[3]; }

 private:
  static std::vector<int> with_group(std::vector<int> e) {
    e.insert(e.begin() + 1, 1);
    return e;
  }
};

// What the three kernels differ in. Operands come in the order of the node's inputs.
struct WindowRowsKernel {
  const char *operation;
  // Of shapes of inputs and output, which are image, weights and result of the convolution.
  WindowRows (*of)(const std::vector<Shape> &in, const Shape &out, const Attributes &a);
  void (*define)(Build &b, const WindowRows &of, bool biased);
};

schedules::ContractionKnobs knobs_for(const Machine &m, int columns) {
  return schedules::ContractionKnobs::fitting(m, columns);
}

// A copy of tiles, computed as a whole.
Halide::Func all_tiles(const Halide::Func &sums) {
  Halide::Func all("all_tiles");
  const std::vector<Halide::Var> at = sums.args();
  all(at) = sums(at);
  return all.compute_root();
}

std::vector<Halide::Expr> extents_of(const std::vector<int> &extents) { return {extents.begin(), extents.end()}; }

void define_result(Build &b, const WindowRows &of, bool biased) {
  using Halide::Var;
  const forms::Tensor x = b.input("x", 5), w = forms::zero_padded(b.input("w", 5));
  const forms::Tensor bias = biased ? forms::zero_padded(b.input("b", 2)) : forms::Tensor();
  Halide::Func windows = forms::window_rows(x, of.window(), of.slides(), of.pixels()), sums("sums");
  const Var co("co"), p("p");
  const Halide::RDom k(0, of.w[0], 0, of.w[1], 0, of.w[2], "k");
  sums(co, p) = biased ? bias(co, 0) : Halide::Expr(0.0f);
  sums(co, p) += w(k.x, k.y, k.z, co, 0) * windows(k.x + of.w[0] * (k.y + of.w[1] * k.z), p);
  const Halide::Func all = all_tiles(sums);
  const Halide::Func out = b.output("y", forms::Tensor(forms::image_of_rows(all, of.pixels()), extents_of(of.y)));
  b.schedule([&](const Machine &m) {
    schedules::contraction({all, sums, w.func(), 3, 1}, m, knobs_for(m, of.w[3]));
    schedules::window_rows(windows, m);
    schedules::image_of_rows(out, {}, m);
  });
}

void define_weights(Build &b, const WindowRows &of, bool) {
  using Halide::Var;
  const forms::Tensor x = b.input("x", 5), dy = b.input("dy", 5);
  Halide::Func windows = forms::window_rows(x, of.window(), of.slides(), of.pixels()), sums("sums");
  const Var ci("ci"), kx("kx"), ky("ky"), co("co"), g("g");
  const forms::PixelRows pixels = of.pixels();
  const Halide::RDom k(0, of.y[2], 0, of.y[3], 0, of.y[4], "k");
  sums(ci, kx, ky, co, g) = 0.0f;
  sums(ci, kx, ky, co, g) += windows(ci + of.w[0] * (kx + of.w[1] * ky), pixels.number(k.x, k.y, k.z)) *
                             dy(Halide::clamp(co, 0, of.w[3] - 1), 0, k.x, k.y, k.z);
  const Halide::Func out = b.output("dw", forms::Tensor(sums, extents_of(of.w)));
  b.schedule([&](const Machine &m) {
    schedules::contraction({out, sums, windows, 0, 3}, m, knobs_for(m, of.w[0]));
    schedules::window_rows(windows, m);
  });
}

void define_image(Build &b, const WindowRows &of, bool) {
  using Halide::Var;
  const forms::Tensor w = forms::zero_padded(b.input("w", 5)), dy = b.input("dy", 5);
  Halide::Func rows = forms::pixel_rows(dy, of.pixels()), d("d");
  const Var ci("ci"), kx("kx"), ky("ky"), p("p");
  const Halide::RDom k(0, of.w[3], "k");
  d(ci, kx, ky, p) = 0.0f;
  d(ci, kx, ky, p) += w(ci, kx, ky, k, 0) * rows(k, p);
  const Halide::Func all = all_tiles(d), sums = forms::image_of_windows(all, of.window(), of.slides(), of.pixels());
  const Halide::Func out = b.output("dx", forms::Tensor(sums, extents_of(of.x)));
  b.schedule([&](const Machine &m) {
    schedules::contraction({all, d, w.func(), 0, 3}, m, knobs_for(m, of.w[0]));
    schedules::window_rows(rows, m);
    schedules::image_of_rows(out, sums, m);
  });
}

using Shapes = std::vector<Shape>;
const std::vector<WindowRowsKernel> &window_rows_kernels() {
  static const std::vector<WindowRowsKernel> table = {
      {"conv2d",
       [](const Shapes &in, const Shape &out, const Attributes &a) { return WindowRows(in.at(0), in.at(1), out, a); },
       define_result},
      {"conv2d_gradient_w",
       [](const Shapes &in, const Shape &out, const Attributes &a) { return WindowRows(in.at(0), out, in.at(1), a); },
       define_weights},
      {"conv2d_gradient_x",
       [](const Shapes &in, const Shape &out, const Attributes &a) { return WindowRows(out, in.at(0), in.at(1), a); },
       define_image},
  };
  return table;
}

const WindowRowsKernel *find_window_rows(const std::string &operation) {
  for (const WindowRowsKernel &k : window_rows_kernels())
    if (operation == k.operation) return &k;
  return nullptr;
}

WindowRows window_rows_of(const Graph &graph, const Graph::Node &node, const WindowRowsKernel &kernel) {
  Shapes in;
  for (const std::string &i : node.inputs) in.push_back(graph.value(i).shape);
  return kernel.of(in, graph.value(node.outputs[0]).shape, node.attributes);
}

}  // namespace

bool has_window_rows(const Graph &graph, const Graph::Node &node) {
  const WindowRowsKernel *kernel = find_window_rows(node.operation);
  if (!kernel || node.attributes.integer("groups", 1) != 1) return false;
  const WindowRows of = window_rows_of(graph, node, *kernel);
  // Whole vectors of channels, and a window that is more than a pixel.
  constexpr int vector = 16;
  return of.windows_per_image() < few_pixels && of.w[1] * of.w[2] > 1 && of.w[0] % vector == 0 && of.w[3] % vector == 0;
}

EmittedKernel emit_window_rows(const Graph &graph, const Group &group) {
  const Graph::Node &node = group.anchor();
  if (group.nodes.size() > 1) fail("nothing can follow in the kernel of windows as rows");
  const WindowRowsKernel *kernel = find_window_rows(node.operation);
  const WindowRows of = window_rows_of(graph, node, *kernel);
  const bool is_weights = node.operation == "conv2d_gradient_w", is_image = node.operation == "conv2d_gradient_x",
             biased = node.inputs.size() > 2;
  EmittedKernel k;
  const auto add = [&](const std::string &value, const std::vector<int> &extents, Layout layout) {
    k.arguments.push_back(argument(graph, value, extents, layout));
  };
  constexpr Layout last = Layout::channels_last;
  add(node.inputs[0], is_image ? of.w : of.x, last);
  add(node.inputs[1], is_weights || is_image ? of.y : of.w, last);
  if (biased) add(node.inputs[2], {of.w[3], 1}, Layout::row_major);
  Call call;
  for (const EmittedArgument &a : k.arguments) call.emplace_back(a.extents);
  add(node.outputs[0], is_weights ? of.w : is_image ? of.x : of.y, last);
  k.key = "window rows " + node.operation;
  for (const Sliding<int> *d : {&of.sliding.x, &of.sliding.y})
    for (int number : {d->stride, d->dilation, d->pad_before, d->pad_after}) k.key += " " + std::to_string(number);
  for (const std::vector<int> &extents : {of.x, of.w, of.y})
    for (int e : extents) k.key += "," + std::to_string(e);
  k.build = [of, kernel, biased, call](const Halide::Target &target) {
    Build b(target, Build::Schedule::own, call);
    kernel->define(b, of, biased);
    b.finish(nullptr);
    return b;
  };
  return k;
}

}  // namespace saltern::generators
