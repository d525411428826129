#include <cmath>
#include <map>
#include <optional>

#include "runtime/onnx/optimize.h"
#include "runtime/onnx/passes/sweep.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

constexpr int64_t first_opset = 13;  // with scales along an axis, and pools of bytes

// The type of ONNX's own numbering that a Cast names.
constexpr int64_t onnx_f32 = 1;

bool has_input(const Graph::Node &n, size_t i) { return i < n.inputs.size() && !n.inputs[i].empty(); }

// A DequantizeLinear by constants.
struct Dequantized {
  std::string levels;  // the integers
  Tensor scale, zero;  // f32, of one number or a vector; undefined where it counts from 0
  int64_t axis;

  bool is_by_one_scale() const { return scale.size() == 1; }
};

bool is_same(const Tensor &a, const Tensor &b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  return a.type() == b.type() && a.size() == b.size() && a.reals() == b.reals();
}

// Each element of a vector times a number.
Tensor times(const Tensor &v, double factor) {
  const Tensor product = Tensor::empty(v.shape());
  const std::vector<double> from = v.reals();
  for (size_t i = 0; i < from.size(); ++i) product.data<float>()[i] = static_cast<float>(from[i] * factor);
  return product;
}

// Numbers of i8 that are made and read between QuantizeLinear and DequantizeLinear only become numbers of u8, 128 more
// each: kernels multiply u8 by i8.
void use_natural_numbers(Graph &g) {
  std::map<std::string, std::vector<Graph::Node *>> readers;
  for (Graph::Node &n : g.nodes)
    for (const std::string &i : n.inputs) readers[i].push_back(&n);
  const std::set<std::string> fixed = fixed_names(g), inputs(g.inputs.begin(), g.inputs.end());
  std::map<std::string, std::string> shifted;  // zero points
  const auto zero_of = [&](const Graph::Node &n) -> const Tensor * {
    if (!has_input(n, 2) || inputs.count(n.inputs[2]) > 0) return nullptr;
    const auto v = g.values.find(n.inputs[2]);
    return v != g.values.end() && v->second.constant.defined() && v->second.constant.type() == Type::i8
               ? &v->second.constant
               : nullptr;
  };
  const auto shift = [&](Graph::Node &n) {
    std::string &name = shifted[n.inputs[2]];
    if (name.empty()) {
      const Tensor zero = zero_of(n)->in_layout(Layout::row_major), more = Tensor::empty(zero.shape(), Type::u8);
      for (int64_t i = 0; i < zero.size(); ++i)
        more.data<uint8_t>()[i] = static_cast<uint8_t>(zero.data<int8_t>()[i] + 128);
      name = g.fresh_name(n.inputs[2] + ".natural");
      g.add_constant(name, more);
    }
    n.inputs[2] = name;
  };
  for (Graph::Node &n : g.nodes) {
    if (!is_onnx_operator(n, "QuantizeLinear") || n.attributes.has("output_dtype") || !zero_of(n)) continue;
    if (fixed.count(n.outputs[0])) continue;
    const std::vector<Graph::Node *> &all = readers[n.outputs[0]];
    if (all.empty() || !std::all_of(all.begin(), all.end(), [&](const Graph::Node *r) {
          return is_onnx_operator(*r, "DequantizeLinear") && zero_of(*r);
        }))
      continue;
    shift(n);
    for (Graph::Node *r : all) shift(*r);
  }
}

class Products {
 public:
  explicit Products(Model &m) : sweep_(m.graph, nothing_) {}

  void run() {
    sweep_.run([this](Graph::Node n) {
      const bool done = is_onnx_operator(n, "Conv")             ? conv(n)
                        : is_onnx_operator(n, "MatMul")         ? matmul(n)
                        : is_onnx_operator(n, "Gemm")           ? gemm(n)
                        : is_onnx_operator(n, "QuantizeLinear") ? moved(n) || rescaled(n)
                                                                : false;
      if (!done) sweep_.keep(std::move(n));
    });
  }

 private:
  // The constants that make a real number of a sum of integers, of which there is one for each output.
  struct Scaled {
    std::string product, sum;  // the values that are made by them; no sum without a bias
  };

  std::optional<Dequantized> dequantized(const std::string &name) {
    const Graph::Node *n = name.empty() ? nullptr : sweep_.maker(name);
    if (!n || !is_onnx_operator(*n, "DequantizeLinear") || n->attributes.integer("block_size", 0) != 0) return {};
    if (n->attributes.has("output_dtype")) return {};
    const Tensor *scale = sweep_.constant_of(n->inputs.at(1)),
                 *zero = has_input(*n, 2) ? sweep_.constant_of(n->inputs[2]) : nullptr;
    if (!scale || scale->type() != Type::f32 || scale->rank() > 1 || (has_input(*n, 2) && !zero)) return {};
    return Dequantized{n->inputs[0], *scale, zero ? *zero : Tensor(), n->attributes.integer("axis", 1)};
  }

  // A vector of real numbers, given as it is or dequantized; undefined where it is not constant.
  Tensor real_vector(const std::string &name) {
    if (const Tensor *t = sweep_.constant_of(name)) return t->type() == Type::f32 && t->rank() == 1 ? *t : Tensor();
    const std::optional<Dequantized> d = dequantized(name);
    const Tensor *levels = d ? sweep_.constant_of(d->levels) : nullptr;
    if (!levels || levels->rank() != 1 || (d->scale.size() != 1 && d->scale.size() != levels->size())) return {};
    const std::vector<double> scale = d->scale.reals(), of = levels->reals(),
                              zero = d->zero.defined() ? d->zero.reals() : std::vector<double>{0};
    const Tensor made = Tensor::empty(levels->shape());
    for (size_t i = 0; i < of.size(); ++i)
      made.data<float>()[i] =
          static_cast<float>((of[i] - zero[zero.size() == 1 ? 0 : i]) * scale[scale.size() == 1 ? 0 : i]);
    return made;
  }

  // What a product is made of, if it can be one of integers.
  struct Factors {
    Dequantized x, w;
    Tensor weights, bias;  // without a bias it is undefined
  };
  // Scales of weights run along `axis`, that of the outputs, or are one.
  std::optional<Factors> factors(const Graph::Node &n, int64_t axis) {
    const std::optional<Dequantized> x = dequantized(n.inputs.at(0)), w = dequantized(n.inputs.at(1));
    if (!x || !w || !x->is_by_one_scale()) return {};
    const Tensor *weights = sweep_.constant_of(w->levels);
    if (!weights || (weights->type() != Type::i8 && weights->type() != Type::u8)) return {};
    const auto rank = static_cast<int64_t>(weights->rank());
    if (rank < 2) return {};
    if (!w->is_by_one_scale() &&
        ((w->axis + rank) % rank != axis || w->scale.size() != weights->extent(static_cast<int>(axis))))
      return {};
    if (x->zero.defined() && (x->zero.size() != 1 || (x->zero.type() != Type::u8 && x->zero.type() != Type::i8)))
      return {};
    if (!x->zero.defined()) return {};  // its type would have to be inferred
    Tensor bias;
    if (has_input(n, 2)) {
      bias = real_vector(n.inputs[2]);
      if (!bias.defined() || bias.size() != weights->extent(static_cast<int>(axis))) return {};
    }
    return Factors{*x, *w, *weights, bias};
  }

  std::string node(const char *operation, std::vector<std::string> inputs, const std::string &output,
                   const Attributes &attributes = {}) {
    Graph::Node n;
    n.operation = operation;
    n.attributes = attributes;
    n.attributes.set_owner(operation);
    n.inputs = std::move(inputs);
    n.outputs = {output};
    sweep_.keep(std::move(n));
    return output;
  }

  // The integer product, scaled: as many ones stand behind the outputs as dimensions do.
  bool replace(const Graph::Node &n, const Factors &f, const char *operation, const Attributes &attributes,
               const std::string &weights, int dimensions_behind) {
    const std::string &y = n.outputs[0];
    std::vector<std::string> inputs = {f.x.levels, weights, sweep_.constant(y + ".zero", f.x.zero.reshaped({}))};
    if (f.w.zero.defined()) inputs.push_back(sweep_.constant(y + ".weights_zero", f.w.zero));
    const std::string sums = node(operation, inputs, sweep_.fresh(y + ".sums"), attributes);
    const std::string real = node("Cast", {sums}, sweep_.fresh(y + ".real"), {{"to", onnx_f32}});
    const auto vector = [&](const char *what, const Tensor &t) {
      Shape shape(static_cast<size_t>(dimensions_behind) + 1, 1);
      shape[0] = t.size();
      return sweep_.constant(y + what, t.reshaped(shape));
    };
    const Tensor scale = times(f.w.scale.reshaped({f.w.scale.size()}), f.x.scale.reals()[0]);
    Scaled made;
    made.product = node("Mul", {real, vector(".scale", scale)}, f.bias.defined() ? sweep_.fresh(y + ".scaled") : y);
    if (f.bias.defined()) made.sum = node("Add", {made.product, vector(".bias", f.bias)}, y);
    scaled_[y] = made;
    return true;
  }

  bool conv(const Graph::Node &n) {
    const std::optional<Factors> f = factors(n, 0);
    return f && replace(n, *f, "ConvInteger", n.attributes, f->w.levels, f->weights.rank() - 2);
  }

  bool matmul(const Graph::Node &n) {
    const std::optional<Factors> f = factors(n, 1);
    return f && f->weights.rank() == 2 && replace(n, *f, "MatMulInteger", {}, f->w.levels, 0);
  }

  bool gemm(const Graph::Node &n) {
    const bool turned = n.attributes.integer("transB", 0) != 0;
    const auto is_one = [&](const char *name) { return n.attributes.real(name, 1) == 1; };
    if (n.attributes.integer("transA", 0) != 0 || !is_one("alpha") || !is_one("beta")) return false;
    const std::optional<Factors> f = factors(n, turned ? 0 : 1);
    if (!f || f->weights.rank() != 2) return false;
    std::string weights = f->w.levels;
    if (turned) {
      const Tensor by_rows = f->weights.in_layout(Layout::row_major);
      const Tensor columns = Tensor::empty({by_rows.extent(1), by_rows.extent(0)}, by_rows.type());
      columns.copy_from(by_rows.viewed(columns.shape(), {1, by_rows.extent(1)}));
      weights = sweep_.constant(n.outputs[0] + ".weights", columns);
    }
    return replace(n, *f, "MatMulInteger", {}, weights, 0);
  }

  // ---- QuantizeLinear by one constant scale.

  bool moved(const Graph::Node &n) {
    const Tensor *scale = sweep_.constant_of(n.inputs.at(1)),
                 *zero = has_input(n, 2) ? sweep_.constant_of(n.inputs[2]) : nullptr;
    if (!scale || scale->size() != 1 || !zero || n.attributes.has("output_dtype")) return false;
    const auto levels = [&](const std::string &name) -> std::string {
      const std::optional<Dequantized> d = dequantized(name);
      return d && is_same(d->scale, *scale) && is_same(d->zero, *zero) ? d->levels : "";
    };
    if (const std::string same = levels(n.inputs[0]); !same.empty() && !sweep_.is_fixed(n.outputs[0])) {
      sweep_.rename(n.outputs[0], same);
      return true;
    }
    const Graph::Node *before = sweep_.maker(n.inputs[0]);
    if (!before || before->outputs.size() != 1) return false;
    static const std::set<std::string> movements = {"Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze",
                                                    "Slice",   "Gather",    "MaxPool", "Concat"};
    if (!before->domain.empty() || !before->references.empty() || !movements.count(before->operation)) return false;
    Graph::Node of_levels = *before;
    const size_t moved_inputs = before->operation == "Concat" ? of_levels.inputs.size() : 1;
    for (size_t i = 0; i < moved_inputs; ++i) {
      of_levels.inputs[i] = levels(of_levels.inputs[i]);
      if (of_levels.inputs[i].empty()) return false;
    }
    of_levels.outputs = n.outputs;
    sweep_.keep(std::move(of_levels));
    return true;
  }

  // Two dequantized numbers added, in steps of what they are quantized to: one product each, and one number for all zero
  // points. Empty where it is something else.
  std::string sum_of_two(const Graph::Node &n, double factor) {
    const Graph::Node *add = sweep_.maker(n.inputs[0]);
    if (!add || !is_onnx_operator(*add, "Add") || !sweep_.has_one_reader(n.inputs[0])) return "";
    const std::optional<Dequantized> of[] = {dequantized(add->inputs.at(0)), dequantized(add->inputs.at(1))};
    double zeros = 0;
    std::string terms[2];
    for (const std::optional<Dequantized> &d : of) {
      const bool is_byte = d && d->is_by_one_scale() && d->zero.defined() && d->zero.size() == 1 &&
                           (d->zero.type() == Type::u8 || d->zero.type() == Type::i8);
      if (!is_byte) return "";
      zeros -= d->zero.reals()[0] * d->scale.reals()[0] * factor;
    }
    const std::string y = n.outputs[0];
    for (size_t i = 0; i < 2; ++i) {
      const std::string by = sweep_.constant(y + ".scale", Tensor::full({}, of[i]->scale.reals()[0] * factor));
      const std::string real = node("Cast", {of[i]->levels}, sweep_.fresh(y + ".real"), {{"to", onnx_f32}});
      terms[i] = node("Mul", {real, by}, sweep_.fresh(y + ".scaled"));
    }
    const std::string both = node("Add", {terms[0], terms[1]}, sweep_.fresh(y + ".sum"));
    return node("Add", {both, sweep_.constant(y + ".zeros", Tensor::full({}, zeros))}, sweep_.fresh(y + ".in_steps"));
  }

  bool rescaled(Graph::Node n) {
    const Tensor *scale = sweep_.constant_of(n.inputs.at(1));
    if (!scale || scale->size() != 1 || scale->type() != Type::f32 || n.attributes.has("precision")) return false;
    const double factor = 1 / scale->item();
    if (!std::isnormal(static_cast<float>(factor))) return false;
    if (!has_input(n, 2) && !n.attributes.has("output_dtype")) return false;
    const Tensor one = Tensor::full(scale->shape(), 1);
    if (const std::string sum = sum_of_two(n, factor); !sum.empty()) {
      n.inputs[0] = sum;
      n.inputs[1] = sweep_.constant(n.outputs[0] + ".one", one);
      sweep_.keep(std::move(n));
      return true;
    }
    const auto sum = scaled_.find(n.inputs[0]);
    if (sum != scaled_.end() && sweep_.has_one_reader(n.inputs[0])) {
      for (const std::string &made : {sum->second.product, sum->second.sum}) {
        if (made.empty()) continue;
        const std::string constant = sweep_.maker(made)->inputs[1];
        const std::string by_steps = sweep_.constant(constant + ".steps", times(*sweep_.constant_of(constant), factor));
        sweep_.maker(made)->inputs[1] = by_steps;
      }
    } else {
      const std::string by = sweep_.constant(n.outputs[0] + ".steps", Tensor::full({}, factor));
      n.inputs[0] = node("Mul", {n.inputs[0], by}, sweep_.fresh(n.outputs[0] + ".in_steps"));
    }
    n.inputs[1] = sweep_.constant(n.outputs[0] + ".one", one);
    sweep_.keep(std::move(n));
    return true;
  }

  const Inferred nothing_;
  Sweep sweep_;
  std::map<std::string, Scaled> scaled_;  // by the value
};

}  // namespace

Model with_integer_products(Model m) {
  if (m.opset() < first_opset) return m;
  if (std::none_of(m.graph.nodes.begin(), m.graph.nodes.end(),
                   [](const Graph::Node &n) { return is_onnx_operator(n, "DequantizeLinear"); }))
    return m;
  use_natural_numbers(m.graph);
  Products(m).run();
  return m;
}

}  // namespace saltern
