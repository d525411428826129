// Saltern's own operations as ONNX operators.

#include <algorithm>
#include <functional>
#include <set>

#include "runtime/onnx/export.h"
#include "runtime/onnx/net_export.h"
#include "runtime/onnx/operators/axis.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

NetExport::NetExport(const Graph &net) : net_(net) {
  const std::set<std::string> inputs(net.inputs.begin(), net.inputs.end());
  for (const auto &[name, v] : net.values)
    if (v.constant.defined() || inputs.count(name) > 0)
      to_.values[name] = v.constant.defined() ? Graph::Value{v.shape, v.type, v.constant.in_layout(Layout::row_major)}
                                              : with_names({v.shape, v.type, {}}, net.sizes);
  to_.inputs = net.inputs;
  to_.outputs = net.outputs;
  // An output may be a constant, or an input.
  for (const std::string &o : net.outputs)
    to_.values.emplace(o, with_names({net.value(o).shape, net.value(o).type, {}}, net.sizes));
}

std::string NetExport::integer(const std::string &stem, int64_t value) {
  const OpenNumber number = open_number(value, net_.sizes);
  if (!number.is_open()) return constant(stem, Tensor::of<int64_t>({}, {value}));
  const std::string one = computed(stem, number), made = temporary(stem);
  add("Reshape", {one, constant(stem + ".shape", Tensor::of<int64_t>({0}, {}))}, {made});
  return made;
}

std::string NetExport::integers(const std::string &stem, const std::vector<int64_t> &all) {
  if (std::none_of(all.begin(), all.end(), [&](int64_t i) { return is_open(i); })) return constant(stem, list_of(all));
  std::vector<std::string> each;
  for (int64_t i : all) {
    const OpenNumber number = open_number(i, net_.sizes);
    each.push_back(number.is_open() ? computed(stem, number) : constant(stem, Tensor::of<int64_t>({1}, {i})));
  }
  if (each.size() == 1) return each[0];
  const std::string made = temporary(stem);
  add("Concat", each, {made}, {{"axis", int64_t{0}}});
  return made;
}

std::string NetExport::shape(const std::string &stem, Shape shape) {
  const auto open = [&](int64_t extent) { return is_open(extent); };
  if (std::count_if(shape.begin(), shape.end(), open) == 1 && std::count(shape.begin(), shape.end(), 0) == 0)
    std::replace_if(shape.begin(), shape.end(), open, -1);
  return integers(stem, shape);
}

std::string NetExport::computed(const std::string &stem, const OpenNumber &number) {
  std::string product;
  const auto with = [&](const char *op, const std::string &other) {
    const std::string made = temporary(stem);
    add(op, {product, other}, {made});
    product = made;
  };
  const auto one = [&](int64_t value) { return constant(stem, Tensor::of<int64_t>({1}, {value})); };
  for (const std::string &name : number.names)
    if (product.empty())
      product = size(name);
    else
      with("Mul", size(name));
  if (number.factor != 1) with("Mul", one(number.factor));
  if (number.rest != 0) with("Add", one(number.rest));
  return product;
}

std::string NetExport::size(const std::string &name) {
  if (const auto known = sizes_.find(name); known != sizes_.end()) return known->second;
  const OpenSize &size = net_.sizes.at(name);
  if (size.by > 0) {
    const std::string of = computed("size", numerator_of(size, net_.sizes));
    if (size.by == 1) return sizes_[name] = of;
    const std::string made = temporary("size");
    add("Div", {of, constant("size", Tensor::of<int64_t>({1}, {size.by}))}, {made});
    return sizes_[name] = made;
  }
  for (const std::string &input : net_.inputs) {
    const Shape &shape = net_.value(input).shape;
    const auto d = std::find(shape.begin(), shape.end(), size.number) - shape.begin();
    if (d == static_cast<std::ptrdiff_t>(shape.size())) continue;
    const std::string made = temporary(name);
    add("Shape", {input}, {made}, {{"start", int64_t{d}}, {"end", int64_t{d} + 1}});
    return sizes_[name] = made;
  }
  unsupported("no input has the open size '", name, "'");
}

namespace {

using Write = std::function<void(NetExport &, const Graph::Node &)>;

// The same operator under another name, with some of its attributes, which may have other names too.
struct Renamed {
  const char *attribute, *to;
};
Write named(const char *op, const std::vector<Renamed> &renamed = {}) {
  return [=](NetExport &e, const Graph::Node &n) {
    Attributes attributes;
    for (const auto &[name, a] : n.attributes)
      for (const Renamed &r : renamed)
        if (name == r.attribute) attributes.set(r.to, a);
    e.add(op, n.inputs, n.outputs, attributes);
  };
}
const Renamed axis = {"axis", "axis"}, epsilon = {"epsilon", "epsilon"};

Attributes window_of(const Graph::Node &n) {
  Attributes a;
  for (const char *name : {"strides", "pads", "dilations"})
    if (n.attributes.has(name)) a.set(name, n.attributes.integers(name));
  return a;
}

void convolution(NetExport &e, const Graph::Node &n) {
  Attributes a = window_of(n);
  a.set("group", n.attributes.integer("groups", 1));
  const Shape &w = e.value(n.inputs.at(1)).shape;
  a.set("kernel_shape", std::vector<int64_t>(w.begin() + 2, w.end()));
  e.add("Conv", n.inputs, n.outputs, a);
}

// The gradient of a convolution's image is a transposed convolution of w and what came of the image.
void transposed_convolution(NetExport &e, const Graph::Node &n) {
  const Shape &w = e.value(n.inputs.at(0)).shape, &from = e.value(n.inputs.at(1)).shape,
              &to = e.value(n.outputs.at(0)).shape;
  Attributes a = window_of(n);
  a.set("group", n.attributes.integer("groups", 1));
  a.set("kernel_shape", std::vector<int64_t>(w.begin() + 2, w.end()));
  const auto &strides = n.attributes.integers("strides"), &dilations = n.attributes.integers("dilations"),
             &pads = n.attributes.integers("pads");
  std::vector<int64_t> missing;  // at the end, where strides leave pixels that no window touched
  for (size_t d = 0; d < 2; ++d)
    missing.push_back(to[d + 2] -
                      ((from[d + 2] - 1) * strides[d] + (w[d + 2] - 1) * dilations[d] + 1 - pads[d] - pads[d + 2]));
  a.set("output_padding", missing);
  e.add("ConvTranspose", {n.inputs[1], n.inputs[0]}, n.outputs, a);
}

void dense(NetExport &e, const Graph::Node &n) { e.add("Gemm", n.inputs, n.outputs, {{"transB", int64_t{1}}}); }

void pool(NetExport &e, const Graph::Node &n) {
  Attributes a = window_of(n);
  a.set("kernel_shape", n.attributes.integers("kernel"));
  const bool average = n.operation == "average_pool2d";
  if (average) a.set("count_include_pad", n.attributes.integer("count_padding", 1));
  e.add(average ? "AveragePool" : "MaxPool", n.inputs, {n.outputs[0]}, a);  // positions are for training
}

// Saltern's order: x, mean, variance, scale, shift.
void batch_norm(NetExport &e, const Graph::Node &n) {
  e.add("BatchNormalization", {n.inputs.at(0), n.inputs.at(3), n.inputs.at(4), n.inputs.at(1), n.inputs.at(2)},
        n.outputs, {{"epsilon", n.attributes.real("epsilon")}});
}

// RMSNormalization is newer than the opset that is written.
void rms_norm(NetExport &e, const Graph::Node &n) {
  const std::string &x = n.inputs.at(0), &y = n.outputs.at(0);
  const auto rank = static_cast<int64_t>(e.value(x).shape.size());
  const int64_t first = axis_within(n.attributes.integer("axis"), rank);
  std::vector<int64_t> axes;
  for (int64_t d = first; d < rank; ++d) axes.push_back(d);
  const std::string over = e.integers(y + ".axes", axes);
  const std::string epsilon =
      e.constant(y + ".epsilon", Tensor::full({}, n.attributes.real("epsilon"), e.value(x).type));
  const auto step = [&](const char *op, const std::vector<std::string> &from) {
    const std::string to = e.temporary(y + ".norm");
    e.add(op, from, {to});
    return to;
  };
  const std::string mean = step("ReduceMean", {step("Mul", {x, x}), over});
  const std::string root = step("Sqrt", {step("Add", {mean, epsilon})});
  e.add("Mul", {step("Div", {x, root}), n.inputs.at(1)}, {y});
}

void reshape(NetExport &e, const Graph::Node &n) {
  e.add("Reshape", {n.inputs.at(0), e.shape(n.outputs[0] + ".shape", n.attributes.integers("shape"))}, n.outputs);
}

void slice(NetExport &e, const Graph::Node &n) {
  const auto number = [&](const char *what, int64_t value) { return e.integers(n.outputs[0] + what, {value}); };
  const int64_t begin = n.attributes.integer("begin"), end = begin + n.attributes.integer("count");
  e.add("Slice",
        {n.inputs.at(0), number(".begin", begin), number(".end", end), number(".axis", n.attributes.integer("axis"))},
        n.outputs);
}

void expand(NetExport &e, const Graph::Node &n) {
  const std::vector<int64_t> &shape = n.attributes.integers("shape");
  e.add("Expand", {n.inputs.at(0), e.integers(n.outputs[0] + ".shape", shape)}, n.outputs);
}

void sum(NetExport &e, const Graph::Node &n) {
  const std::vector<int64_t> &axes = n.attributes.integers("axes");
  const std::string over = e.integers(n.outputs[0] + ".axes", axes);
  const double scale = n.attributes.real("scale", 1);
  if (scale == 1) return e.add("ReduceSum", {n.inputs.at(0), over}, n.outputs);
  const Shape &x = e.value(n.inputs[0]).shape;
  double count = 1;
  for (int64_t a : axes)
    count *= static_cast<double>(x.at(static_cast<size_t>(axis_within(a, static_cast<int64_t>(x.size())))));
  if (scale == 1 / count) return e.add("ReduceMean", {n.inputs[0], over}, n.outputs);
  const std::string total = e.temporary(n.outputs[0] + ".sum");
  e.add("ReduceSum", {n.inputs.at(0), over}, {total});
  e.add("Mul", {total, e.constant(n.outputs[0] + ".scale", Tensor::full({}, scale, e.value(n.inputs[0]).type))},
        n.outputs);
}

void cross_entropy(NetExport &e, const Graph::Node &n) {
  Attributes a = {{"reduction", std::string("none")}};
  if (n.attributes.has("ignore")) a.set("ignore_index", n.attributes.integer("ignore"));
  e.add("SoftmaxCrossEntropyLoss", n.inputs, n.outputs, a);
}

// Pairs of numbers along some dimensions, one after another. The operator divides by how many there are on its way back.
void fourier(NetExport &e, const Graph::Node &n) {
  const bool inverse = n.attributes.integer("inverse") != 0;
  const Shape &shape = e.value(n.inputs.at(0)).shape;
  double scale = n.attributes.real("scale");
  std::string x = n.inputs[0];
  for (int64_t d : n.attributes.integers("dimensions")) {
    const std::string y = e.temporary(n.outputs[0] + ".fourier");
    e.add("DFT", {x, "", e.integer(y + ".axis", d)}, {y}, {{"inverse", int64_t{inverse}}});
    if (inverse) scale *= static_cast<double>(shape.at(static_cast<size_t>(d)));
    x = y;
  }
  e.add("Mul", {x, e.constant(n.outputs[0] + ".scale", Tensor::full({}, scale, e.value(n.inputs[0]).type))}, n.outputs);
}

void leaky_relu(NetExport &e, const Graph::Node &n) { e.add("LeakyRelu", n.inputs, n.outputs, {{"alpha", 0.01}}); }
void square(NetExport &e, const Graph::Node &n) { e.add("Mul", {n.inputs.at(0), n.inputs.at(0)}, n.outputs); }
void silu(NetExport &e, const Graph::Node &n) {
  const std::string gate = e.temporary(n.outputs[0] + ".gate");
  e.add("Sigmoid", n.inputs, {gate});
  e.add("Mul", {n.inputs.at(0), gate}, n.outputs);
}

// Of what is no function of the language.
const std::map<std::string, Write> &writers() {
  static const std::map<std::string, Write> table = {
      {"average_pool2d", pool},
      {"batch_norm", batch_norm},
      {"concat", named("Concat", {axis})},
      {"conv2d", convolution},
      {"conv2d_gradient_x", transposed_convolution},
      {"cross_entropy", cross_entropy},
      {"dense", dense},
      {"expand", expand},
      {"fft.transform", fourier},
      {"formula", export_formula},
      {"gelu", named("Gelu")},
      {"identity", named("Identity")},
      {"layer_norm", named("LayerNormalization", {axis, epsilon})},
      {"leaky_relu", leaky_relu},
      {"log_softmax", named("LogSoftmax", {axis})},
      {"matmul", named("MatMul")},
      {"max_pool2d", pool},
      {"reciprocal", named("Reciprocal")},
      {"relu", named("Relu")},
      {"reshape", reshape},
      {"rms_norm", rms_norm},
      {"scan", export_scan},
      {"scattered_values", export_scatter},
      {"slice", slice},
      {"sigmoid", named("Sigmoid")},
      {"silu", silu},
      {"softmax", named("Softmax", {axis})},
      {"square", square},
      {"sum", sum},
      {"transpose", named("Transpose", {{"order", "perm"}})},
  };
  return table;
}

void write(NetExport &to, const Graph::Node &n) {
  const auto writer = writers().find(n.operation);
  const char *function = operator_of(n.operation);
  if (writer != writers().end())
    writer->second(to, n);
  else if (function)
    to.add(function, n.inputs, n.outputs);
  else
    unsupported(describe(n), ": ONNX has no operator for it, and a kernel is nothing that a model can hold");
}

bool has_operator(const Graph::Node &n) { return writers().count(n.operation) > 0 || operator_of(n.operation); }

}  // namespace

Model onnx_of(const Graph &given) {
  if (!given.state.empty())
    unsupported("the model keeps state ('", given.state[0].value, "') from run to run, as models of ONNX cannot");
  const Graph net = with_scan_bodies(with_scattered_values(with_formulas(given, has_operator)));
  const GraphIndex index(net);
  NetExport to(net);
  Model m;
  for (auto n = net.nodes.begin(); n != net.nodes.end();) {
    // The formulas of an operation stand together, under one label.
    const auto end = std::find_if(std::next(n), net.nodes.end(), [&](const Graph::Node &other) {
      return n->label.empty() || other.label != n->label;
    });
    const std::vector<Graph::Node> nodes(n, end);
    if (!export_application(to, net, index, nodes, m.functions))
      for (const Graph::Node &each : nodes) write(to, each);
    n = end;
  }
  m.ir_version = 10;
  m.opsets[""] = exported_opset;
  if (!m.functions.empty()) m.opsets[own_domain] = 1;
  m.graph = to.take();
  return m;
}

}  // namespace saltern
