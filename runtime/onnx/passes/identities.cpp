#include <algorithm>
#include <cmath>

#include "runtime/onnx/optimize.h"
#include "runtime/onnx/passes/sweep.h"

namespace saltern {

namespace {

constexpr int64_t most_compared = 1 << 16;  // elements of a constant that may be all ones

struct Question {
  const Model &model;
  const Sweep &sweep;
  const Inferred &known;
  const Graph::Node &node;

  const InferredValue *value(const std::string &name) const { return known.find(name); }
  const Tensor *constant(size_t input) const {
    return input < node.inputs.size() ? sweep.constant_of(node.inputs[input]) : nullptr;
  }
  // Whether a constant input has no other element, of that sign, and lets the other input of two keep its shape.
  bool is_all(size_t input, double element) const {
    const Tensor *t = constant(input);
    if (!t || t->size() > most_compared || t->type() == Type::text || node.inputs.size() != 2) return false;
    const std::vector<double> all = t->reals();
    const auto is_element = [&](double e) {
      return e == element && (!is_real(t->type()) || std::signbit(e) == std::signbit(element));
    };
    if (!std::all_of(all.begin(), all.end(), is_element)) return false;
    const InferredValue *other = value(node.inputs[1 - input]);
    return (other && all.size() == 1 && t->shape().size() <= other->shape.size()) || keeps_shape(1 - input);
  }
  // Whether the result is sure to have an input's shape: on every size, none of which the node refuses.
  bool keeps_shape(size_t input) const {
    const InferredValue *from = value(node.inputs.at(input)), *to = value(node.outputs.at(0));
    return from && to && to->sure && from->extents == to->extents;
  }
};

bool always(const Question &) { return true; }
// -0 + 0 is 0, which is another number (1 / x tells); -0 - 0 and -0 + -0 are -0.
bool adds_nothing(const Question &q) { return q.is_all(1, -0.0); }
bool adds_nothing_first(const Question &q) { return q.is_all(0, -0.0); }
bool takes_nothing(const Question &q) { return q.is_all(1, 0.0); }
bool scales_nothing(const Question &q) { return q.is_all(1, 1); }
bool scales_nothing_first(const Question &q) { return q.is_all(0, 1); }
bool keeps_shape(const Question &q) { return q.keeps_shape(0); }
bool has_one_input(const Question &q) { return q.node.inputs.size() == 1; }

// Training is asked for by the third input since opset 12, and by another operator before 7.
bool drops_nothing(const Question &q) { return q.node.inputs.size() < 3 && q.model.opset() >= 7; }

bool keeps_order(const Question &q) {
  const Order order = q.node.attributes.integers("perm", {-1});
  return is_order(order) && moves_nothing(order);
}

bool pads_nothing(const Question &q) {
  std::vector<int64_t> pads = q.node.attributes.integers("pads", {1});
  if (const Tensor *given = q.constant(1)) pads = given->integers();
  return std::all_of(pads.begin(), pads.end(), [](int64_t p) { return p == 0; });
}

// The same extents, and no step that goes back.
bool slices_nothing(const Question &q) {
  if (!q.keeps_shape(0)) return false;
  if (q.node.inputs.size() < 5 || q.node.inputs[4].empty()) return true;
  const Tensor *steps = q.constant(4);
  if (!steps) return false;
  const std::vector<int64_t> all = steps->integers();
  return std::all_of(all.begin(), all.end(), [](int64_t s) { return s == 1; });
}

bool casts_nothing(const Question &q) {
  const InferredValue *from = q.value(q.node.inputs[0]), *to = q.value(q.node.outputs[0]);
  return from && to && from->type == to->type;
}

// When a node passes an input on as it is.
struct Row {
  const char *operation;
  size_t input;
  bool (*passes_on)(const Question &);
};

constexpr Row rows[] = {
    {"Identity", 0, always},      {"Dropout", 0, drops_nothing},    {"Transpose", 0, keeps_order},
    {"Add", 0, adds_nothing},     {"Add", 1, adds_nothing_first},   {"Sub", 0, takes_nothing},
    {"Mul", 0, scales_nothing},   {"Mul", 1, scales_nothing_first}, {"Div", 0, scales_nothing},
    {"Pow", 0, scales_nothing},   {"Concat", 0, has_one_input},     {"Sum", 0, has_one_input},
    {"Mean", 0, has_one_input},   {"Max", 0, has_one_input},        {"Min", 0, has_one_input},
    {"Slice", 0, slices_nothing}, {"Pad", 0, pads_nothing},         {"Expand", 0, keeps_shape},
    {"Reshape", 0, keeps_shape},  {"Flatten", 0, keeps_shape},      {"Squeeze", 0, keeps_shape},
    {"Tile", 0, keeps_shape},     {"Cast", 0, casts_nothing},
};

// The input that a node passes on as it is; empty where it does not.
std::string passed_on(const Question &q) {
  const Graph::Node &n = q.node;
  const auto wanted =
      std::count_if(n.outputs.begin(), n.outputs.end(), [](const std::string &o) { return !o.empty(); });
  if (wanted != 1 || n.outputs[0].empty()) return "";
  for (const Row &r : rows)
    if (is_onnx_operator(n, r.operation) && r.input < n.inputs.size() && !n.inputs[r.input].empty() && r.passes_on(q))
      return n.inputs[r.input];
  return "";
}

}  // namespace

Model without_identities(Model m, const Inferred &known) {
  Sweep sweep(m.graph, known);
  sweep.run([&](Graph::Node n) {
    const std::string from = passed_on({m, sweep, known, n});
    if (from.empty() || sweep.is_fixed(n.outputs[0])) return sweep.keep(std::move(n));
    sweep.rename(n.outputs[0], from);
  });
  return m;
}

}  // namespace saltern
