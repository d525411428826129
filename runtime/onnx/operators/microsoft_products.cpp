// Products and convolutions with what stands around them, products with packed weights, and of matrices what else there is.

#include "algorithms/functions.h"
#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/choices.h"
#include "runtime/onnx/operators/microsoft.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

using namespace formula;

// ---- Activations by name, with parameters in the order that ONNX Runtime has.

Operand activated(Lowering &n, const Operand &x, const std::vector<double> &given) {
  const std::string name = one_of({"", "Clip", "Elu", "HardSigmoid", "HardSwish", "LeakyRelu", "Relu", "Sigmoid",
                                   "Softplus", "Tanh", "ThresholdedRelu"},
                                  "activation", n.attributes().word("activation", ""));
  if (name.empty()) return x;
  const auto parameter = [&](size_t i, double otherwise) { return i < given.size() ? given[i] : otherwise; };
  if (name == "Clip") {
    constexpr double most = std::numeric_limits<float>::max();
    const auto bound = [&](double v) { return n.constant(Tensor::full({}, v, x.type)); };
    return by(n, "Clip", {x, bound(parameter(0, -most)), bound(parameter(1, most))});
  }
  Attributes a;
  if (name == "HardSigmoid") a = {{"alpha", parameter(0, 0.2)}, {"beta", parameter(1, 0.5)}};
  if (name == "LeakyRelu") a = {{"alpha", parameter(0, 0.01)}};
  if (name == "Elu" || name == "ThresholdedRelu") a = {{"alpha", parameter(0, 1)}};
  return by(n, name.c_str(), {x}, a);
}

// The parameters of FusedGemm have names.
std::vector<double> named_parameters(const Lowering &n) {
  std::vector<double> all;
  for (const char *name : {"activation_alpha", "activation_beta"})
    if (n.attributes().has(name)) all.push_back(n.attributes().real(name));
  return all;
}

// ---- Products.

// The first axis goes to where a matrix's rows are; then these are exchanged with its columns.
Operand turned(Lowering &n, const Operand &x, bool batch, bool matrix) {
  std::vector<int> order;
  for (int d = 0; d < x.rank(); ++d) order.push_back(d);
  if (batch && order.size() > 2) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (matrix && order.size() > 1) std::swap(order[order.size() - 1], order[order.size() - 2]);
  return n.transposed(x, order);
}

void fused_matmul(Lowering &n) {
  const auto is = [&](const char *name) { return n.attributes().integer(name, 0) != 0; };
  const double alpha = n.attributes().real("alpha", 1);
  const Operand y = matmul(n, turned(n, n.input(0), is("transBatchA"), is("transA")),
                           turned(n, n.input(1), is("transBatchB"), is("transB")));
  n.give(0, alpha == 1 ? y : n.computed(cast(y.type, cast(working_type(y.type), y) * alpha)));
}

void fused_gemm(Lowering &n) {
  const Operand y =
      by(n, "Gemm", {n.input(0), n.input(1), n.optional(2)}, some_attributes(n, {"alpha", "beta", "transA", "transB"}));
  n.give(0, activated(n, y, named_parameters(n)));
}

void gemm_fast_gelu(Lowering &n) {
  const Operand product = matmul(n, n.input(0), n.input(1));
  const Type type = working_type(product.type);
  const Value x = cast(type, product);
  n.give(0, cast(product.type, algorithms::gelu_tanh(n.has(2) ? x + cast(type, n.input(2)) : x)));
}

// activation(conv(x, w) + bias + z)
void fused_conv(Lowering &n) {
  const Operand y = by(n, "Conv", {n.input(0), n.input(1), n.optional(2)},
                       some_attributes(n, {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}));
  const auto given =
      n.attributes().has("activation_params") ? n.attributes().reals("activation_params") : std::vector<double>();
  n.give(0, activated(n, n.has(3) ? by(n, "Add", {y, n.input(3)}) : y, given));
}

// ---- Weights of few bits, those of a byte beginning with its lowest; each block along k has a scale and a zero point.
//
//   b(n, block, byte)   scales(n, block)   zero points packed likewise, or numbers: 2^(bits - 1) where there are none

// Number i of those that bytes hold, `of(byte number)` being a byte.
Expression unpacked(const Expression &i, int64_t bits, const std::function<Expression(const Expression &)> &of) {
  const int64_t each = 8 / bits;
  const Expression byte = cast(Type::i64, of(i / each)), place = i % each;
  Expression value = byte;
  for (int64_t p = each - 1; p >= 0; --p) {
    const Expression shifted = byte / (int64_t{1} << (p * bits)) % (int64_t{1} << bits);
    value = p == each - 1 ? shifted : select(place == p, shifted, value);
  }
  return value;
}

void matmul_n_bits(Lowering &n) {
  const Operand &a = n.input(0), &b = n.input(1), &zeros = n.optional(3), &groups = n.optional(4);
  const int64_t inner = n.attributes().integer("K"), outputs = n.attributes().integer("N"),
                bits = n.attributes().integer("bits", 4), block = n.attributes().integer("block_size");
  if (bits != 2 && bits != 4 && bits != 8) unsupported("has weights of ", bits, " bits; expected 2, 4 or 8");
  if (inner < 1 || outputs < 1 || block < 16 || a.rank() < 1 || a.shape.back() != inner)
    fail("A is ", to_string(a.shape), " with K ", inner, ", N ", outputs, " and block_size ", block);
  const int64_t blocks = (inner + block - 1) / block;
  if (elements(b.shape) != outputs * blocks * block * bits / 8) fail("B is ", to_string(b.shape));
  const Value bytes = n.reshaped(b, {outputs, blocks, block * bits / 8}),
              scales = n.reshaped(n.input(2), {outputs, blocks});
  expect_shape(groups, {inner}, "g_idx");
  const int64_t zeros_of_row = zeros.type == Type::u8 ? (blocks * bits + 7) / 8 : blocks;
  const Value points = zeros.present() ? Value(n.reshaped(zeros, {outputs, zeros_of_row})) : Value();
  const Type type = working_type(a.type);
  const Operand weights = n.computed(compute("weights", {inner, outputs}, [&](const Axes &at) {
    const Expression &k = at[0], &column = at[1];
    const Expression group = groups.present() ? cast(Type::i64, Value(groups)(k)) : k / block;
    const Expression q = unpacked(k % block, bits, [&](const Expression &i) { return bytes(column, k / block, i); });
    Expression zero = constant(type, static_cast<double>(int64_t{1} << (bits - 1)));
    if (points.defined())
      zero = cast(type, zeros.type == Type::u8
                            ? unpacked(group, bits, [&](const Expression &i) { return points(column, i); })
                            : points(column, group));
    return (cast(type, q) - zero) * cast(type, scales(column, group));
  }));
  const Operand y = matmul(n, n.casted(a, type), weights);
  n.give(0, cast(a.type, n.has(5) ? Value(y) + cast(type, n.input(5)) : Value(y)));
}

// ---- Of matrices.

// Columns one after another, with the largest pivot: beside the matrix stands the identity, which becomes the inverse.
void inverse(Lowering &n) {
  const Operand &x = n.input(0);
  if (x.rank() < 2 || x.shape.back() != x.shape[x.shape.size() - 2])
    fail("x is ", to_string(x.shape), "; expected square matrices");
  const int64_t size = x.shape.back(), count = elements({x.shape.begin(), x.shape.end() - 2});
  const Type type = working_type(x.type);
  const Value given = n.reshaped(x, {count, size, size});
  Operand both = n.computed(inlined({count, size, 2 * size}, [&](const Axes &at) {
    return select(at[2] < size, cast(type, given(at[0], at[1], min(at[2], size - 1))),
                  select(at[2] == at[1] + size, constant(type, 1), constant(type, 0)));
  }));
  for (int64_t c = 0; c < size; ++c) {
    const Value m = both;
    const Value row = compute("row", {count}, [&](const Axes &at) {
      return reduce(Function::first_greatest, {size - c}, [&](const Axes &k) { return abs(m(at[0], k[0] + c, c)); });
    });
    both = n.computed(compute("rest", {count, size, 2 * size}, [&](const Axes &at) {
      const Expression p = row(at[0]) + c, from = select(at[1] == p, Expression(c), at[1]), pivot = m(at[0], p, c);
      const Expression own = m(at[0], p, at[2]) / pivot;
      return select(at[1] == c, own, m(at[0], from, at[2]) - m(at[0], from, c) * own);
    }));
  }
  const Value all = both;
  n.give(0,
         n.reshaped(n.computed(inlined({count, size, size},
                                       [&](const Axes &at) { return cast(x.type, all(at[0], at[1], at[2] + size)); })),
                    x.shape));
}

// The distances of all rows of one from all rows of the other.
void distances(Lowering &n) {
  const Operand &a = n.input(0), &b = n.input(1);
  if (a.rank() != 2 || b.rank() != 2 || a.shape[1] != b.shape[1])
    fail("rows of ", to_string(a.shape), " and ", to_string(b.shape), " do not fit each other");
  const bool root =
      one_of({"euclidean", "sqeuclidean"}, "metric", n.attributes().word("metric", "sqeuclidean")) == "euclidean";
  const Value left = a, right = b, squares = compute("squares", {a.shape[0], b.shape[0]}, [&](const Axes &at) {
                                     return reduce(Function::sum, {a.shape[1]}, [&](const Axes &k) {
                                       const Expression way = left(at[0], k[0]) - right(at[1], k[0]);
                                       return way * way;
                                     });
                                   });
  n.give(0, root ? sqrt(squares) : squares);
}

}  // namespace

const OperatorList microsoft_product_operators = {
    {"CDist", distances, nullptr, microsoft},
    {"FusedConv", fused_conv, nullptr, microsoft},
    {"FusedGemm", fused_gemm, nullptr, microsoft},
    {"FusedMatMul", fused_matmul, nullptr, microsoft},
    {"GemmFastGelu", gemm_fast_gelu, nullptr, microsoft},
    {"Inverse", inverse, nullptr, microsoft},
    {"MatMulNBits", matmul_n_bits, nullptr, microsoft},
    {"TransposeMatMul", fused_matmul, nullptr, microsoft},  // as it was called before
};

}  // namespace saltern
