#include "generators/model/emitters.h"
#include "generators/model/geometry.h"

namespace saltern::generators {

namespace {

using Arguments = std::vector<EmittedArgument>;

// A row: an operation, and how a call of its library kernel (of the same name unless said) is made up.
struct Row {
  std::string operation;
  void (*call)(const Graph &, const Graph::Node &, Call &, Arguments &);
};

void add_buffer(const Graph &graph, const std::string &value, std::vector<int> extents, Call &call, Arguments &all) {
  call.emplace_back(extents);
  all.push_back(argument(graph, value, std::move(extents)));
}

void add_window(const Graph::Node &node, Call &call) {
  const PoolWindow w = pool_window(node.attributes);
  call.emplace_back(w.kernel_x);
  call.emplace_back(w.kernel_y);
  for (const Sliding<int> *d : {&w.sliding.x, &w.sliding.y})
    for (int number : {d->stride, d->dilation, d->pad_before, d->pad_after}) call.emplace_back(number);
}

void average_pool2d(const Graph &graph, const Graph::Node &node, Call &call, Arguments &all) {
  const Shape &x = graph.value(node.inputs.at(0)).shape;
  if (x.size() != 4) fail("an input of ", saltern::to_string(x), "; expected an image (N, C, H, W)");
  add_buffer(graph, node.inputs[0], memory_extents(x), call, all);
  add_window(node, call);
  call.emplace_back(static_cast<int>(node.attributes.integer("count_padding", 1)));
  all.push_back(argument(graph, node.outputs[0], memory_extents(graph.value(node.outputs[0]).shape)));
}

// Over the dimension that is innermost in memory.
void over_innermost(const Graph &graph, const Graph::Node &node, Call &call, Arguments &all) {
  const Shape &x = graph.value(node.inputs.at(0)).shape;
  const int rank = static_cast<int>(x.size());
  const int64_t axis = node.attributes.integer("axis", -1), along = axis < 0 ? axis + rank : axis;
  if (rank == 0 || along != memory_order(rank)[0])
    fail("the axis ", axis, " of ", saltern::to_string(x), "; compiled models take the innermost in memory only");
  const int count = static_cast<int>(x[along]);
  const std::vector<int> rows = {count, static_cast<int>(elements(x) / count)};
  add_buffer(graph, node.inputs[0], rows, call, all);
  all.push_back(argument(graph, node.outputs[0], rows));
}

const std::vector<Row> &rows() {
  static const std::vector<Row> table = {
      {"average_pool2d", average_pool2d},
      {"log_softmax", over_innermost},
      {"softmax", over_innermost},
  };
  return table;
}

// An own layer (runtime/layers/formula.h): a kernel of the operation's name that takes the inputs as they are.
void formula(const Graph &graph, const Graph::Node &node, Call &call, Arguments &all) {
  for (const std::string &value : node.inputs) {
    const Shape &shape = graph.value(value).shape;
    if (shape.size() > 2)
      fail("'", value, "' is ", saltern::to_string(shape), "; a formula is compiled for rank 2 at most");
    add_buffer(graph, value, memory_extents(shape), call, all);
  }
  const Build build = find_kernel(node.operation).build(host_target(), Build::Schedule::plain, call);
  if (build.output_extents().size() != 1 || build.inputs().size() != node.inputs.size())
    fail("the kernel '", node.operation, "' does not take the node's inputs and give one output");
  all.push_back(argument(graph, node.outputs[0], build.output_extents()[0]));
}

const Row *find_row(const std::string &operation) {
  for (const Row &r : rows())
    if (r.operation == operation) return &r;
  static const Row own_layer = {"", formula};
  for (const Kernel &k : all_kernels())
    if (k.name == operation && k.is_formula) return &own_layer;
  return nullptr;
}

std::string text(const Call &call) {
  std::string all;
  for (const CallArgument &a : call) {
    all += " ";
    for (int e : a.extents) all += std::to_string(e) + ",";
    if (a.extents.empty()) all += std::to_string(a.value);
  }
  return all;
}

}  // namespace

bool has_library_form(const Graph::Node &node) { return find_row(node.operation) != nullptr; }

EmittedKernel emit_library(const Graph &graph, const Group &group) {
  const Graph::Node &node = group.anchor();
  EmittedKernel k;
  Call call;
  find_row(node.operation)->call(graph, node, call, k.arguments);
  k.key = node.operation + text(call);
  k.build = [call, name = node.operation](const Halide::Target &target) {
    return find_kernel(name).build(target, Build::Schedule::own, call);
  };
  return k;
}

}  // namespace saltern::generators
