#include "runtime/onnx/operators/value.h"
#include "runtime/onnx/optimize.h"
#include "runtime/onnx/passes/sweep.h"

namespace saltern {

namespace {

bool is_any_of(const Graph::Node &n, std::initializer_list<const char *> operations) {
  return std::any_of(operations.begin(), operations.end(), [&](const char *o) { return is_onnx_operator(n, o); });
}

// Whether every value of a type is one of another.
bool is_lossless(Type from, Type to) {
  using Kind = TypeFacts::Kind;
  const TypeFacts &f = facts(from), &t = facts(to);
  if (from == to) return true;
  if (!f.is_arithmetic() || !t.is_arithmetic() || f.kind == Kind::boolean || t.kind == Kind::boolean) return false;
  // The digits of a real type: 24 of f32, 53 of f64; halves are left alone.
  const int digits = to == Type::f64 ? 53 : to == Type::f32 ? 24 : 0;
  if (f.kind == Kind::real) return t.kind == Kind::real && t.bits > f.bits && digits > 0;
  if (t.kind == Kind::real) return f.bits <= digits;
  if (f.kind == t.kind) return t.bits >= f.bits;
  return f.kind == Kind::natural && t.bits > f.bits;
}

class Merging {
 public:
  Merging(Model &m, const Inferred &known) : opset_(m.opset()), known_(known), sweep_(m.graph, known) {}

  void run() {
    sweep_.run([this](Graph::Node n) { visit(std::move(n)); });
  }

 private:
  void visit(Graph::Node n) {
    if (is_any_of(n, {"Squeeze", "Unsqueeze", "Flatten"})) as_reshape(n);
    const Graph::Node *before = n.inputs.empty() ? nullptr : sweep_.maker(n.inputs[0]);
    if (before && before->operation == n.operation && before->domain == n.domain && before->references.empty()) {
      if (is_onnx_operator(n, "Neg") && !sweep_.is_fixed(n.outputs[0]))
        return sweep_.rename(n.outputs[0], before->inputs[0]);
      if (is_onnx_operator(n, "Reshape")) of_reshape(n, *before);
      if (is_onnx_operator(n, "Transpose")) of_transpose(n, *before);
      if (is_onnx_operator(n, "Cast")) of_cast(n, *before);
    }
    sweep_.keep(std::move(n));
  }

  // One extent may be open: a Reshape finds it by itself. A Squeeze that may fail is none.
  void as_reshape(Graph::Node &n) {
    const InferredValue *v = known_.find(n.outputs[0]);
    if (!v || !v->sure || n.inputs[0].empty() || std::count(v->shape.begin(), v->shape.end(), -1) > 1) return;
    if (opset_ < 5 || v->shape.empty() || std::count(v->shape.begin(), v->shape.end(), 0) > 0) return;
    n.inputs = {n.inputs[0], sweep_.constant(n.outputs[0] + ".shape", list_of(v->shape))};
    n.operation = "Reshape";
    n.attributes = {};
    n.attributes.set_owner(n.operation);
  }

  // A Reshape whose shape keeps an extent of its input by a 0 minds what that input is. One that may fail stays.
  void of_reshape(Graph::Node &n, const Graph::Node &before) {
    const InferredValue *between = known_.find(n.inputs[0]);
    if (!between || !between->sure) return;
    const Tensor *to = n.inputs.size() > 1 ? sweep_.constant_of(n.inputs[1]) : nullptr;
    if (!to) return;
    const std::vector<int64_t> shape = to->integers();
    if (std::count(shape.begin(), shape.end(), 0) == 0) n.inputs[0] = before.inputs[0];
  }

  void of_transpose(Graph::Node &n, const Graph::Node &before) {
    if (!n.attributes.has("perm") || !before.attributes.has("perm")) return;
    const Order both = merged(before.attributes.integers("perm"), n.attributes.integers("perm"));
    if (both.empty()) return;
    n.attributes.set("perm", both);
    n.inputs[0] = before.inputs[0];
  }

  void of_cast(Graph::Node &n, const Graph::Node &before) {
    const InferredValue *from = known_.find(before.inputs[0]), *between = known_.find(n.inputs[0]),
                        *to = known_.find(n.outputs[0]);
    // How many digits a number is written with depends on its type.
    const bool is_written = !to || to->type == Type::text;
    if (from && between && !is_written && is_lossless(from->type, between->type)) n.inputs[0] = before.inputs[0];
  }

  int64_t opset_;
  const Inferred &known_;
  Sweep sweep_;
};

}  // namespace

Model with_merged_pairs(Model m, const Inferred &known) {
  Merging(m, known).run();
  return m;
}

}  // namespace saltern
