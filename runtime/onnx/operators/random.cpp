// Random numbers, the same in every run: element i of a node is a function of (seed, i) (algorithms/random.h), so it is a
// formula like any other. A node without a seed takes one from the name of its output.

#include <cstring>
#include <random>

#include "algorithms/random.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/onnx_types.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

using namespace formula;

uint32_t folded(uint64_t bits) { return static_cast<uint32_t>(bits ^ (bits >> 32)); }

uint32_t seed_of(const Lowering &n) {
  if (n.attributes().has("seed")) {
    const double given = n.attributes().real("seed");
    uint64_t bits = 0;
    std::memcpy(&bits, &given, sizeof bits);
    return folded(bits);
  }
  uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a
  for (const std::string &o : n.node().outputs)
    for (const char c : o) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return folded(hash);
}

template <bool is_normal>
void give_random(Lowering &n, Type type, const Shape &shape) {
  if (!is_real(type)) fail("random numbers of type ", facts(type).name, "; expected a real type");
  const char *first = is_normal ? "mean" : "low", *second = is_normal ? "scale" : "high";
  const double a = n.attributes().real(first, 0), b = n.attributes().real(second, 1);
  const Type wide = working_type(type);
  n.give(0, compute("random", extents(shape), [&](const Axes &at) {
           const Expression number = row_major_index(at, shape);
           return cast(type, is_normal ? algorithms::normal(wide, seed_of(n), number) * b + a
                                       : algorithms::uniform(wide, seed_of(n), number) * (b - a) + a);
         }));
}

template <bool is_normal>
void random_of_shape(Lowering &n) {
  const Shape shape = n.attributes().integers("shape");
  for (int64_t e : shape)
    if (e < 0) fail("the shape ", to_string(shape), " has a negative extent");
  give_random<is_normal>(n, type_attribute(n.attributes(), "dtype", Type::f32), shape);
}

template <bool is_normal>
void random_like(Lowering &n) {
  give_random<is_normal>(n, type_attribute(n.attributes(), "dtype", n.input(0).type), n.input(0).shape);
}

void bernoulli(Lowering &n) {
  const Operand &p = n.input(0);
  const Type type = type_attribute(n.attributes(), "dtype", p.type), wide = working_type(p.type);
  const Value draws = inlined(extents(p.shape), [&](const Axes &at) {
    return algorithms::uniform(wide, seed_of(n), row_major_index(at, p.shape));
  });
  n.give(0, cast(type, draws < cast(wide, p)));
}

// The class of the greatest logit after adding to each a number of Gumbel's distribution: as likely as its softmax.
void multinomial(Lowering &n) {
  const Operand &logits = n.input(0);
  if (logits.rank() != 2 || logits.shape[1] < 1) fail("logits are ", to_string(logits.shape), "; expected (N, C)");
  const Type type = type_attribute(n.attributes(), "dtype", Type::i32), wide = working_type(logits.type);
  const int64_t classes = logits.shape[1];
  const Shape shape = {logits.shape[0], n.attributes().integer("sample_size", 1)};
  const Value scores = cast(wide, logits);
  const Value sample = compute("sample", extents(shape), [&](const Axes &at) {
    return reduce(Function::first_greatest, {classes}, [&](const Axes &k) {
      const Expression u = algorithms::uniform(wide, seed_of(n), row_major_index(at, shape) * classes + k[0]);
      // 1 - u is in (0, 1]; the 1 would be infinitely small odds, and its logarithm's logarithm is no number.
      return scores(at[0], k[0]) - log(max(-log(1.0 - u), 1e-30));
    });
  });
  n.give(0, cast(type, sample));
}

// ---- Dropout.

// ONNX's expected results of training come from NumPy's generator, so this one draws the same: MT19937, 53 bits each.
Operand dropout_draws(Lowering &n, const Shape &shape) {
  const bool given = n.attributes().has("seed");
  std::mt19937 engine(
      static_cast<uint32_t>(given ? static_cast<uint64_t>(n.attributes().integer("seed")) : seed_of(n)));
  const Tensor draws = Tensor::empty(shape, Type::f64);
  for (int64_t i = 0; i < draws.size(); ++i) {
    const uint32_t high = engine() >> 5, low = engine() >> 6;
    draws.data<double>()[i] = (high * 67108864.0 + low) / 9007199254740992.0;
  }
  return n.constant(draws);
}

void dropout(Lowering &n) {
  const Operand &x = n.input(0);
  // Until opset 9 the mask has the type of x.
  const Type mask_type = n.opset() < 10 ? x.type : Type::boolean;
  bool training = false;
  if (n.opset() >= 12 && n.has(2)) training = n.known(2, "training_mode").integers().at(0) != 0;
  if (!training) {
    n.give(0, x);
    if (n.wants(1)) n.give(1, filled(n, mask_type, x.shape, 1));
    return;
  }
  const Type wide = working_type(x.type);
  const Value ratio = n.has(1) ? cast(Type::f64, n.reshaped(n.input(1), {})) : constant_value(Type::f64, 0.5);
  const Value mask = named("mask", Value(dropout_draws(n, x.shape)) >= ratio);
  const Value kept = cast(x.type, where(mask, cast(wide, x) / cast(wide, 1 - ratio), 0));
  n.give({kept, mask});
}

// Seed and position are drawn where it is run.
void training_dropout(Lowering &n) {
  const Operand &x = n.input(0);
  if (x.type != Type::f32) unsupported("in training it takes f32, and x is ", facts(x.type).name);
  const double ratio = n.opset() < 12 ? n.attributes().real("ratio", 0.5)
                       : n.has(1)     ? n.known(1, "ratio").reals().at(0)
                                      : 0.5;
  if (ratio < 0 || ratio >= 1) fail("its ratio is ", ratio, "; expected one from 0 to less than 1");
  if (ratio == 0) return n.give(0, x);
  const Operand random = n.constant(Tensor::zeros({2}, Type::i64));
  n.give(0, n.operation("dropout", {x, random}, {{"probability", ratio}}, x.shape));
}

}  // namespace

const OperatorList random_operators = {
    {"Bernoulli", bernoulli},
    {"Dropout", dropout},
    {"Dropout", training_dropout, nullptr, training_domain},
    {"Multinomial", multinomial},
    {"RandomNormal", random_of_shape<true>},
    {"RandomNormalLike", random_like<true>},
    {"RandomUniform", random_of_shape<false>},
    {"RandomUniformLike", random_like<false>},
};

}  // namespace saltern
