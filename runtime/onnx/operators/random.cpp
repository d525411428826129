// Random numbers, the same in every run: element i of a node comes from a hash of (seed, i), as in runtime/tensor/random.h, so
// it is a formula like any other. A node without a seed takes one from the name of its output.

#include <cmath>
#include <cstring>
#include <random>

#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/contraction.h"
#include "runtime/onnx/operators/onnx_types.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

using formula::constant_integer;
using formula::Function;

uint64_t seed_of(const Lowering &n) {
  if (n.attributes().has("seed")) {
    const double given = n.attributes().real("seed");
    uint64_t bits = 0;
    std::memcpy(&bits, &given, sizeof bits);
    return bits;
  }
  uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a
  for (const std::string &o : n.node().outputs)
    for (const char c : o) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

Expression natural(uint64_t value) { return constant_integer(Type::u64, static_cast<int64_t>(value)); }

// 64 random bits for a number (i64).
Expression random_bits(uint64_t seed, const Expression &number) {
  const auto folded = [](const Expression &z, int by) {
    return call(Function::differ, z, call(Function::shift_right, z, natural(static_cast<uint64_t>(by))));
  };
  Expression z = natural(seed) + natural(0x9e3779b97f4a7c15ull) * cast(Type::u64, number + 1);
  z = folded(z, 30) * natural(0xbf58476d1ce4e5b9ull);
  z = folded(z, 27) * natural(0x94d049bb133111ebull);
  return folded(z, 31);
}

// In [0, 1), with as many bits as the type holds.
Expression uniform(Type type, uint64_t seed, const Expression &number) {
  const int bits = type == Type::f64 ? 53 : 24;
  const Expression top =
      call(Function::shift_right, random_bits(seed, number), natural(static_cast<uint64_t>(64 - bits)));
  return cast(type, cast(Type::i64, top)) * std::ldexp(1.0, -bits);
}

// Of mean 0 and variance 1 (Box and Muller).
Expression normal(Type type, uint64_t seed, const Expression &number) {
  const Expression radius = sqrt(log(1.0 - uniform(type, seed, number * 2)) * -2.0);
  return radius * call(Function::cosine, uniform(type, seed, number * 2 + 1) * 6.28318530717958647692);
}

template <bool is_normal>
void give_random(Lowering &n, Type type, const Shape &shape) {
  if (!is_real(type)) fail("random numbers of type ", facts(type).name, "; expected a real type");
  const char *first = is_normal ? "mean" : "low", *second = is_normal ? "scale" : "high";
  const double a = n.attributes().real(first, 0), b = n.attributes().real(second, 1);
  const Type wide = working_type(type);
  n.give(0, n.formula(type, shape, {}, [&](const Reads &, const Axes &at) {
    const Expression number = row_major_index(at, shape);
    const Expression e =
        is_normal ? normal(wide, seed_of(n), number) * b + a : uniform(wide, seed_of(n), number) * (b - a) + a;
    return cast(type, e);
  }));
}

template <bool is_normal>
void random_of_shape(Lowering &n) {
  const Shape shape = n.attributes().integers("shape");
  for (int64_t e : shape)
    if (e < 0) fail("the shape ", to_string(shape), " has a negative extent");
  give_random<is_normal>(n, type_of_onnx(n.attributes().integer("dtype", 1)), shape);
}

Type asked_type(const Lowering &n, Type otherwise) {
  return n.attributes().has("dtype") ? type_of_onnx(n.attributes().integer("dtype")) : otherwise;
}

template <bool is_normal>
void random_like(Lowering &n) {
  give_random<is_normal>(n, asked_type(n, n.input(0).type), n.input(0).shape);
}

void bernoulli(Lowering &n) {
  const Operand &p = n.input(0);
  const Type type = asked_type(n, p.type), wide = working_type(p.type);
  n.give(0, n.formula(type, p.shape, {p}, [&](const Reads &r, const Axes &at) {
    return cast(type, uniform(wide, seed_of(n), row_major_index(at, p.shape)) < cast(wide, r[0].here()));
  }));
}

// The class of the greatest logit after adding to each a number of Gumbel's distribution: as likely as its softmax.
void multinomial(Lowering &n) {
  const Operand &logits = n.input(0);
  if (logits.rank() != 2 || logits.shape[1] < 1) fail("logits are ", to_string(logits.shape), "; expected (N, C)");
  const Type type = type_of_onnx(n.attributes().integer("dtype", 6)), wide = working_type(logits.type);
  const int64_t classes = logits.shape[1];
  const Shape shape = {logits.shape[0], n.attributes().integer("sample_size", 1)};
  n.give(0, n.formula(type, shape, {logits}, [&](const Reads &r, const Axes &at) {
    return cast(type, reduce(Function::first_greatest, {classes}, [&](const auto &s) {
                  const Expression u = uniform(wide, seed_of(n), row_major_index(at, shape) * classes + s[0]);
                  // 1 - u is in (0, 1]; the 1 would be infinitely small odds, and its logarithm's logarithm is no
                  // number.
                  const Expression gumbel = -log(max(-log(1.0 - u), 1e-30));
                  return cast(wide, r[0]({at[0], s[0]})) + gumbel;
                }));
  }));
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
    n.give(0, n.formula(x.type, x.shape, {x}, [](const Reads &r, const Axes &) { return r[0].here(); }));
    if (n.wants(1)) n.give(1, filled(n, mask_type, x.shape, 1));
    return;
  }
  const Type wide = working_type(x.type);
  const Operand ratio = n.has(1) ? n.casted(n.reshaped(n.input(1), {}), Type::f64) : filled(n, Type::f64, {}, 0.5);
  const Operand mask = n.formula(Type::boolean, x.shape, {dropout_draws(n, x.shape), ratio},
                                 [](const Reads &r, const Axes &) { return r[0].here() >= r[1].here(); });
  n.give(0, n.formula(x.type, x.shape, {x, mask, ratio}, [&](const Reads &r, const Axes &) {
    const Expression e = cast(wide, r[0].here());
    return cast(x.type, select(r[1].here(), e / cast(wide, 1.0 - r[2].here()), literal(e, 0)));
  }));
  n.give(1, mask);
}

}  // namespace

const OperatorList &random_operators() {
  static const OperatorList list = {
      {"Bernoulli", bernoulli},
      {"Dropout", dropout},
      {"Multinomial", multinomial},
      {"RandomNormal", random_of_shape<true>},
      {"RandomNormalLike", random_like<true>},
      {"RandomUniform", random_of_shape<false>},
      {"RandomUniformLike", random_like<false>},
  };
  return list;
}

}  // namespace saltern
