#include <algorithm>
#include <cmath>
#include <optional>

#include "runtime/onnx/optimize.h"
#include "runtime/onnx/passes/sweep.h"

namespace saltern {

namespace {

using Channels = std::vector<double>;

// y = factor[c] x + shift[c], for each channel c of x.
struct Scale {
  size_t input = 0;  // of the node: where x is
  Channels factor, shift;
};

// What makes x: how its weights and channels lie.
struct Product {
  const Graph::Node *node;
  Tensor weights;
  Channels bias;
  int rank;         // of x
  int64_t columns;  // channel of the weight with row-major number i: i / inner % columns + columns * (i / group)
  int64_t inner, group;

  int64_t channels() const { return static_cast<int64_t>(bias.size()); }
};

bool is_f32(const Tensor *t) { return t && t->type() == Type::f32; }

// A constant for each channel of a tensor whose channels are dimension 1; nothing where it is no such thing.
std::optional<Channels> per_channel(const Tensor *t, int rank, int64_t channels) {
  if (!is_f32(t) || static_cast<int>(t->shape().size()) > rank) return std::nullopt;
  Shape shape(static_cast<size_t>(rank) - t->shape().size(), 1);
  shape.insert(shape.end(), t->shape().begin(), t->shape().end());
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1 && (d != 1 || shape[d] != channels)) return std::nullopt;
  Channels all = t->reals();
  if (all.size() == 1) all.resize(static_cast<size_t>(channels), all[0]);
  return all.size() == static_cast<size_t>(channels) ? std::optional(all) : std::nullopt;
}

class Folding {
 public:
  Folding(Model &m, const Inferred &known) : known_(known), opset_(m.opset()), sweep_(m.graph, known) {}

  void run() {
    sweep_.run([this](Graph::Node n) { visit(std::move(n)); });
  }

 private:
  void visit(Graph::Node n) {
    for (size_t input = 0; input < std::min<size_t>(n.inputs.size(), 2); ++input) {
      if (!sweep_.has_one_reader(n.inputs[input])) continue;
      const std::optional<Product> made = product(n.inputs[input]);
      std::optional<Scale> scale = made ? scale_of(n, input, *made) : std::nullopt;
      if (scale && fold(n, *made, *scale)) return;
    }
    sweep_.keep(std::move(n));
  }

  const Tensor *constant(const Graph::Node &n, size_t i) const {
    return i < n.inputs.size() && !n.inputs[i].empty() ? sweep_.constant_of(n.inputs[i]) : nullptr;
  }

  std::optional<Product> product(const std::string &name) {
    const Graph::Node *n = sweep_.maker(name);
    const Tensor *w = n && n->outputs.size() == 1 ? constant(*n, 1) : nullptr;
    if (!is_f32(w) || w->size() == 0 || w->rank() < 2) return std::nullopt;
    const int rank = w->rank();
    const int64_t groups = n->attributes.integer("group", 1), outputs = w->extent(0);
    if (is_onnx_operator(*n, "Conv") && rank > 2)
      return with_bias(*n, {n, *w, {}, rank, outputs, w->size() / outputs, w->size()}, outputs, 1);
    if (is_onnx_operator(*n, "ConvTranspose") && rank > 2 && groups > 0 && w->extent(0) % groups == 0) {
      const int64_t columns = w->extent(1), inner = w->size() / (w->extent(0) * columns);
      return with_bias(*n, {n, *w, {}, rank, columns, inner, w->size() / groups}, columns * groups, 1);
    }
    const bool turned = n->attributes.integer("transB", 0) != 0;
    const int64_t columns = w->extent(turned ? 0 : -1);
    const int64_t inner = turned ? w->size() / columns : 1;
    if (is_onnx_operator(*n, "Gemm") && rank == 2 && n->attributes.real("alpha", 1) == 1)
      return with_bias(*n, {n, *w, {}, 2, columns, inner, w->size()}, columns, n->attributes.real("beta", 1));
    // A MatMul of matrices is a Gemm that has no bias yet.
    const InferredValue *x = known_.find(n->inputs[0]);
    if (is_onnx_operator(*n, "MatMul") && rank == 2 && x && x->shape.size() == 2 && opset_ >= 7)
      return Product{n, *w, Channels(static_cast<size_t>(columns)), 2, columns, 1, w->size()};
    return std::nullopt;
  }

  std::optional<Product> with_bias(const Graph::Node &n, Product p, int64_t channels, double factor) const {
    p.bias.resize(static_cast<size_t>(channels));
    if (n.inputs.size() < 3 || n.inputs[2].empty()) return p;
    const Tensor *b = constant(n, 2);
    // Of a Gemm it broadcasts, of the others it is a list.
    const std::optional<Channels> bias = p.rank == 2 ? per_channel(b, 2, channels)
                                         : is_f32(b) ? std::optional(b->reals())
                                                     : std::nullopt;
    if (!bias || bias->size() != p.bias.size()) return std::nullopt;
    for (size_t c = 0; c < p.bias.size(); ++c) p.bias[c] = factor * (*bias)[c];
    return p;
  }

  std::optional<Scale> scale_of(const Graph::Node &n, size_t input, const Product &made) const {
    const auto count = static_cast<size_t>(made.channels());
    if (is_onnx_operator(n, "BatchNormalization")) return batch_norm(n, input, count);
    if (n.inputs.size() != 2) return std::nullopt;
    const auto given = per_channel(constant(n, 1 - input), made.rank, made.channels());
    if (!given) return std::nullopt;
    Scale s{input, Channels(count, 1), Channels(count, 0)};
    if (is_onnx_operator(n, "Add")) {
      s.shift = *given;
    } else if (is_onnx_operator(n, "Mul")) {
      s.factor = *given;
    } else if (is_onnx_operator(n, "Sub")) {
      for (size_t c = 0; c < count; ++c) {
        s.factor[c] = input == 0 ? 1 : -1;
        s.shift[c] = input == 0 ? -(*given)[c] : (*given)[c];
      }
    } else if (is_onnx_operator(n, "Div") && input == 0) {
      for (size_t c = 0; c < count; ++c) s.factor[c] = 1 / (*given)[c];
    } else {
      return std::nullopt;
    }
    return s;
  }

  std::optional<Scale> batch_norm(const Graph::Node &n, size_t input, size_t count) const {
    if (input != 0 || n.inputs.size() != 5 || n.outputs.size() != 1 || n.attributes.integer("training_mode", 0) != 0 ||
        n.attributes.integer("spatial", 1) == 0)
      return std::nullopt;
    std::vector<Channels> given;
    for (size_t i = 1; i < 5; ++i) {
      const Tensor *t = constant(n, i);
      if (!is_f32(t) || t->size() != static_cast<int64_t>(count)) return std::nullopt;
      given.push_back(t->reals());
    }
    const double epsilon = n.attributes.real("epsilon", 1e-5);
    Scale s{0, Channels(count), Channels(count)};
    for (size_t c = 0; c < count; ++c) {
      s.factor[c] = given[0][c] / std::sqrt(given[3][c] + epsilon);
      s.shift[c] = given[1][c] - given[2][c] * s.factor[c];
    }
    return s;
  }

  bool fold(const Graph::Node &n, const Product &p, const Scale &s) {
    const auto finite = [](double d) { return std::isfinite(d); };
    if (!std::all_of(s.factor.begin(), s.factor.end(), finite) || !std::all_of(s.shift.begin(), s.shift.end(), finite))
      return false;
    const Tensor weights = p.weights.in_layout(Layout::row_major).clone(), bias = Tensor::zeros({p.channels()});
    // Products that a float does not hold stay apart: each factor may meet small numbers.
    bool holds = true;
    const auto folded = [&](double v) {
      holds &= !std::isfinite(v) || std::isfinite(static_cast<float>(v));
      return static_cast<float>(v);
    };
    for (int64_t i = 0; i < weights.size(); ++i) {
      const auto c = static_cast<size_t>(i / p.inner % p.columns + p.columns * (i / p.group));
      float &w = weights.data<float>()[i];
      w = folded(w * s.factor[c]);
    }
    for (size_t c = 0; c < p.bias.size(); ++c) bias.data<float>()[c] = folded(p.bias[c] * s.factor[c] + s.shift[c]);
    if (!holds) return false;
    Graph::Node made = *p.node;
    const std::string w = sweep_.constant(made.inputs[1] + ".folded", weights);
    const bool had_bias = made.inputs.size() > 2 && !made.inputs[2].empty();
    const auto is_zero = [](double d) { return d == 0; };
    made.inputs = {made.inputs[0], w};
    // Where nothing was added, nothing is: a bias of zeros would be more to load, and make 0 of -0.
    if (had_bias || !std::all_of(s.shift.begin(), s.shift.end(), is_zero)) {
      made.inputs.push_back(sweep_.constant(n.outputs[0] + ".bias", bias));
      if (made.operation == "MatMul") made.operation = "Gemm";
    }
    if (made.attributes.has("beta")) made.attributes.set("beta", 1.0);
    made.outputs = n.outputs;
    // What was made before stays without a reader, for the pass that drops dead code.
    sweep_.keep(std::move(made));
    return true;
  }

  const Inferred &known_;
  int64_t opset_;
  Sweep sweep_;
};

}  // namespace

Model with_folded_scales(Model m, const Inferred &known) {
  Folding(m, known).run();
  return m;
}

}  // namespace saltern
