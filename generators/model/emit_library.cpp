#include <sstream>

#include "generators/model/emitters.h"
#include "generators/model/epilogue.h"
#include "generators/model/geometry.h"
#include "runtime/onnx/operators/axis.h"

namespace saltern::generators {

namespace {

using Arguments = std::vector<EmittedArgument>;

// A row: an operation, and how a call of its library kernel (of the same name unless said) is made up.
struct Row {
  std::string operation;
  void (*call)(const Graph &, const Graph::Node &, Call &, Arguments &);
  bool epilogue = false;  // its schedule computes the output from a function at the same point, whatever that does
};

constexpr Layout rows = Layout::row_major, image = Layout::channels_last;

void add_buffer(const Graph &graph, const std::string &value, std::vector<int> extents, Layout layout, Call &call,
                Arguments &all) {
  call.emplace_back(extents);
  all.push_back(argument(graph, value, std::move(extents), layout));
}

void add_window(const Graph::Node &node, Call &call) {
  const PoolWindow w = pool_window(node.attributes);
  call.emplace_back(w.kernel_x);
  call.emplace_back(w.kernel_y);
  for (const Sliding<int> *d : {&w.sliding.x, &w.sliding.y})
    for (int number : {d->stride, d->dilation, d->pad_before, d->pad_after}) call.emplace_back(number);
}

void average_pool2d(const Graph &graph, const Graph::Node &node, Call &call, Arguments &all) {
  add_buffer(graph, node.inputs[0], image_extents(graph.value(node.inputs.at(0)).shape), image, call, all);
  add_window(node, call);
  call.emplace_back(static_cast<int>(node.attributes.integer("count_padding", 1)));
  all.push_back(argument(graph, node.outputs[0], image_extents(graph.value(node.outputs[0]).shape), image));
}

// Over the last dimension.
void over_last(const Graph &graph, const Graph::Node &node, Call &call, Arguments &all) {
  const Shape &x = graph.value(node.inputs.at(0)).shape;
  const int along = axis_within(node.attributes.integer("axis", -1), static_cast<int64_t>(x.size()));
  if (along + 1 != static_cast<int>(x.size()))
    fail("the axis ", along, " of ", saltern::to_string(x), "; compiled models take the last one only");
  const std::vector<int> extents = {static_cast<int>(x.back()), static_cast<int>(elements(x) / x.back())};
  add_buffer(graph, node.inputs[0], extents, rows, call, all);
  all.push_back(argument(graph, node.outputs[0], extents, rows));
}

// Over all dimensions from the axis on; the parameters have their shape.
void over_rows(const Graph &graph, const Graph::Node &node, Call &call, Arguments &all) {
  const Graph::Value &x = graph.value(node.inputs.at(0));
  const int from = axis_within(node.attributes.integer("axis"), static_cast<int64_t>(x.shape.size()));
  const int count = static_cast<int>(elements({x.shape.begin() + from, x.shape.end()}));
  const std::vector<int> extents = {count, static_cast<int>(elements(x.shape) / count)};
  add_buffer(graph, node.inputs[0], extents, rows, call, all);
  for (size_t i = 1; i < node.inputs.size(); ++i) add_buffer(graph, node.inputs[i], {count}, rows, call, all);
  call.emplace_back(node.attributes.real("epsilon"));
  all.push_back(argument(graph, node.outputs[0], extents, rows));
}

// Batches are equal, or b has none: then all rows of a are one matrix.
void matmul(const Graph &graph, const Graph::Node &node, Call &call, Arguments &all) {
  const Shape &a = graph.value(node.inputs.at(0)).shape, &b = graph.value(node.inputs.at(1)).shape;
  if (a.size() < 2 || b.size() < 2) fail("of ", saltern::to_string(a), " and ", saltern::to_string(b));
  const int k = static_cast<int>(a.back()), n = static_cast<int>(b.back());
  const int64_t batch = elements(b) / k / n;
  const int m = static_cast<int>(elements(a) / k / batch), batches = static_cast<int>(batch);
  add_buffer(graph, node.inputs[0], {k, m, batches}, rows, call, all);
  add_buffer(graph, node.inputs[1], {n, k, batches}, rows, call, all);
  all.push_back(argument(graph, node.outputs[0], {n, m, batches}, rows));
}

// A constant that a node may leave out is zeros.
void add_bias(const Graph &graph, const Graph::Node &node, std::vector<int> extents, int64_t count, Call &call,
              Arguments &all) {
  if (node.inputs.size() > 2) return add_buffer(graph, node.inputs[2], std::move(extents), rows, call, all);
  call.emplace_back(extents);
  all.push_back({std::move(extents), "", saltern::Tensor::zeros({count})});
}

void add_sliding(const Graph::Node &node, Call &call) {
  const Sliding2d<int> s = sliding_of(node.attributes);
  for (const Sliding<int> *d : {&s.x, &s.y})
    for (int number : {d->stride, d->dilation, d->pad_before, d->pad_after}) call.emplace_back(number);
}

int64_t groups_of(const Graph::Node &node) { return node.attributes.integer("groups", 1); }

// As kernels with groups take images and weights.
std::vector<int> grouped_image(const Shape &x, int64_t g) {
  const auto i = [](int64_t v) { return static_cast<int>(v); };
  return {i(x[1] / g), i(g), i(x[3]), i(x[2]), i(x[0])};
}
std::vector<int> grouped_weights(const Shape &w, int64_t g) {
  const auto i = [](int64_t v) { return static_cast<int>(v); };
  return {i(w[1]), i(w[3]), i(w[2]), i(w[0] / g), i(g)};
}

// With groups, or weights that are not constant.
void conv2d(const Graph &graph, const Graph::Node &node, Call &call, Arguments &all) {
  const Shape &x = graph.value(node.inputs.at(0)).shape, &w = graph.value(node.inputs.at(1)).shape,
              &y = graph.value(node.outputs.at(0)).shape;
  const int64_t g = groups_of(node);
  add_buffer(graph, node.inputs[0], grouped_image(x, g), image, call, all);
  add_buffer(graph, node.inputs[1], grouped_weights(w, g), image, call, all);
  add_bias(graph, node, {static_cast<int>(w[0] / g), static_cast<int>(g)}, w[0], call, all);
  add_sliding(node, call);
  all.push_back(argument(graph, node.outputs[0], grouped_image(y, g), image));
}

// (w, dy) -> dx
void conv2d_gradient_x(const Graph &graph, const Graph::Node &node, Call &call, Arguments &all) {
  const Shape &w = graph.value(node.inputs.at(0)).shape, &dy = graph.value(node.inputs.at(1)).shape,
              &dx = graph.value(node.outputs.at(0)).shape;
  const int64_t g = groups_of(node);
  add_buffer(graph, node.inputs[0], grouped_weights(w, g), image, call, all);
  add_buffer(graph, node.inputs[1], grouped_image(dy, g), image, call, all);
  add_sliding(node, call);
  for (size_t d : {3, 2}) call.emplace_back(static_cast<int>(dx[d]));
  all.push_back(argument(graph, node.outputs[0], grouped_image(dx, g), image));
}

// (x, dy) -> dw
void conv2d_gradient_w(const Graph &graph, const Graph::Node &node, Call &call, Arguments &all) {
  const Shape &x = graph.value(node.inputs.at(0)).shape, &dy = graph.value(node.inputs.at(1)).shape,
              &dw = graph.value(node.outputs.at(0)).shape;
  const int64_t g = groups_of(node);
  add_buffer(graph, node.inputs[0], grouped_image(x, g), image, call, all);
  add_buffer(graph, node.inputs[1], grouped_image(dy, g), image, call, all);
  add_sliding(node, call);
  for (size_t d : {3, 2}) call.emplace_back(static_cast<int>(dw[d]));
  all.push_back(argument(graph, node.outputs[0], grouped_weights(dw, g), image));
}

void depthwise2d(const Graph &graph, const Graph::Node &node, Call &call, Arguments &all) {
  const Graph::Value &w = graph.value(node.inputs.at(1));
  add_buffer(graph, node.inputs[0], image_extents(graph.value(node.inputs[0]).shape), image, call, all);
  const std::vector<int> window = {static_cast<int>(w.shape[0]), static_cast<int>(w.shape[3]),
                                   static_cast<int>(w.shape[2])};
  call.emplace_back(window);
  all.push_back({window, "", channels_innermost(w.constant)});
  add_bias(graph, node, {window[0]}, w.shape[0], call, all);
  add_sliding(node, call);
  all.push_back(argument(graph, node.outputs[0], image_extents(graph.value(node.outputs[0]).shape), image));
}

// Of weights that are not constant.
void dense(const Graph &graph, const Graph::Node &node, Call &call, Arguments &all) {
  const Shape &x = graph.value(node.inputs.at(0)).shape, &w = graph.value(node.inputs.at(1)).shape;
  add_buffer(graph, node.inputs[0], {static_cast<int>(x[1]), static_cast<int>(x[0])}, rows, call, all);
  add_buffer(graph, node.inputs[1], {static_cast<int>(w[1]), static_cast<int>(w[0])}, rows, call, all);
  add_bias(graph, node, {static_cast<int>(w[0])}, w[0], call, all);
  all.push_back(argument(graph, node.outputs[0], {static_cast<int>(w[0]), static_cast<int>(x[0])}, rows));
}

const std::vector<Row> &all_rows() {
  static const std::vector<Row> table = {
      {"average_pool2d", average_pool2d, true},
      {"conv2d", conv2d},
      {"conv2d_gradient_w", conv2d_gradient_w},
      {"conv2d_gradient_x", conv2d_gradient_x},
      {"dense", dense, true},
      {"depthwise2d", depthwise2d, true},
      {"layer_norm", over_rows},
      {"log_softmax", over_last},
      {"matmul", matmul, true},
      {"rms_norm", over_rows},
      {"softmax", over_last},
  };
  return table;
}

const Row *find_row(const std::string &operation) {
  for (const Row &r : all_rows())
    if (r.operation == operation) return &r;
  return nullptr;
}

// A convolution whose every channel is a group of its own has a kernel of its own.
std::string kernel_of(const Graph &graph, const Graph::Node &node) {
  return is_depthwise(graph, node) ? "depthwise2d" : node.operation;
}

std::string text(const Call &call) {
  std::ostringstream all;
  all << std::hexfloat;  // every digit: an epsilon may be small
  for (const CallArgument &a : call) {
    all << " ";
    for (int e : a.extents) all << e << ",";
    if (a.extents.empty()) all << a.value;
  }
  return all.str();
}

}  // namespace

bool is_depthwise(const Graph &graph, const Graph::Node &node) {
  if (node.operation != "conv2d") return false;
  const Shape &x = graph.value(node.inputs.at(0)).shape, &w = graph.value(node.inputs.at(1)).shape;
  const int64_t groups = node.attributes.integer("groups", 1);
  return groups > 1 && groups == x[1] && groups == w[0] && graph.value(node.inputs[1]).constant.defined();
}

bool has_library_form(const Graph::Node &node) { return find_row(node.operation) != nullptr; }

bool has_library_epilogue(const Graph &graph, const Graph::Node &node) {
  return has_library_form(node) && find_row(kernel_of(graph, node))->epilogue;
}

EmittedKernel emit_library(const Graph &graph, const Group &group) {
  const Graph::Node &node = group.anchor();
  EmittedKernel k;
  Call call;
  const std::string kernel = kernel_of(graph, node);
  find_row(kernel)->call(graph, node, call, k.arguments);
  k.key = kernel + text(call);
  Build::Epilogue follow;
  if (group.nodes.size() > 1) {
    const Epilogue epilogue(graph, group);
    k.key += epilogue.key();
    EmittedArgument result = std::move(k.arguments.back());
    k.arguments.pop_back();
    for (EmittedArgument &a : epilogue.arguments(result.extents)) {
      call.emplace_back(a.extents);
      k.arguments.push_back(std::move(a));
    }
    result.value = group.output();
    result.type = graph.value(group.output()).type;
    k.arguments.push_back(std::move(result));
    follow = [epilogue](Build &b, const forms::Tensor &y) -> forms::Tensor {
      const std::vector<Halide::Var> vars = y.func().args();
      Halide::Func out("result");
      out(vars) = epilogue(y(vars), epilogue.inputs(b, vars.size()), {vars.begin(), vars.end()});
      return {out, y.extents()};
    };
  }
  k.build = [call, name = kernel, follow](const Halide::Target &target) {
    return find_kernel(name).build(target, Build::Schedule::own, call, {}, follow);
  };
  return k;
}

}  // namespace saltern::generators
