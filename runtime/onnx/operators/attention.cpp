// Attention: y = softmax(cap(scale q k^T) + bias) v, for each head.
//
// Query heads that share a key head (grouped and multi-query attention) stand next to each other, so the product of a
// group with its keys is one product of more rows; nothing is repeated. Types below f32 are computed in f32 throughout,
// which is at least the precision that `softmax_precision` can ask for.

#include <cmath>
#include <limits>

#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/onnx_types.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

// ---- The two products, over heads: q (B, Hq, L, E), k (B, Hkv, S, E), v (B, Hkv, S, F). Query head h goes with key head
// h / (Hq / Hkv). All operands are of one type; shapes that do not fit each other throw.

// (B, Hq, L, X) as (B, Hkv, rows of the group, X), for keys or values of Hkv heads.
Operand grouped(Lowering &n, const Operand &x, const Operand &of) {
  if (x.rank() != 4 || of.rank() != 4)
    fail("an input of ", to_string(x.rank() == 4 ? of.shape : x.shape), "; expected (batch, heads, length, size)");
  const int64_t heads = of.shape[1];
  if (x.shape[0] != of.shape[0] || heads == 0 || x.shape[1] % heads != 0)
    fail("heads of ", to_string(x.shape), " and ", to_string(of.shape), " do not fit each other");
  return n.reshaped(x, {x.shape[0], heads, x.shape[1] / heads * x.shape[2], x.shape[3]});
}

// q k^T: (B, Hq, L, S)
Operand head_scores(Lowering &n, const Operand &q, const Operand &k) {
  const Operand rows = grouped(n, q, k);
  return n.reshaped(matrix_product(n, rows, n.transposed(k, {0, 1, 3, 2})),
                    {q.shape[0], q.shape[1], q.shape[2], k.shape[2]});
}

// weights (B, Hq, L, S) times v: (B, Hq, L, F)
Operand weighted_values(Lowering &n, const Operand &weights, const Operand &v) {
  const Operand rows = grouped(n, weights, v);
  return n.reshaped(matrix_product(n, rows, v), {weights.shape[0], weights.shape[1], weights.shape[2], v.shape[3]});
}

const double minus_infinity = -std::numeric_limits<double>::infinity();

// (batch, length, heads * size) as (batch, heads, length, size).
Operand split_heads(Lowering &n, const Operand &x, const char *attribute) {
  if (x.rank() == 4) return x;
  const int64_t heads = n.attributes().integer(attribute);
  if (x.rank() != 3 || heads < 1 || x.shape[2] % heads != 0)
    fail("an input of ", to_string(x.shape), " has no ", heads, " heads (", attribute, ")");
  return n.transposed(n.reshaped(x, {x.shape[0], x.shape[1], heads, x.shape[2] / heads}), {0, 2, 1, 3});
}

Operand after_past(Lowering &n, size_t past, const Operand &now) {
  if (!n.has(past)) return now;
  const Operand &before = n.input(past);
  if (before.rank() != 4 || before.type != now.type || before.shape[0] != now.shape[0] ||
      before.shape[1] != now.shape[1] || before.shape[3] != now.shape[3])
    fail("a past of ", to_string(before.shape), " before ", to_string(now.shape));
  return concatenated(n, {before, now}, 2);
}

// From opset 24 on, a mask that is shorter than the keys ends with "no".
bool is_short(const Lowering &n, const Operand &mask, const Shape &scores) {
  return n.opset() >= 24 && mask.rank() > 0 && mask.shape.back() < scores[3];
}

void expect_mask_and_lengths(const Lowering &n, const Shape &scores) {
  const Operand &mask = n.optional(3), &lengths = n.optional(6);
  const size_t rank = mask.shape.size();
  bool fits = rank <= 4;
  for (size_t d = 0; fits && d < rank; ++d)
    fits = mask.shape[d] == 1 || mask.shape[d] == scores[4 - rank + d] || (d + 1 == rank && is_short(n, mask, scores));
  if (!fits) fail("the mask ", to_string(mask.shape), " does not broadcast to ", to_string(scores));
  expect_shape(lengths, {scores[0]}, "nonpad_kv_seqlen");
}

// With what is added to the score at a place: the mask, the order of time, and the lengths of padded keys.
Expression biased(const Lowering &n, const Shape &scores, Expression e, const Axes &at) {
  const Value mask = n.optional(3), lengths = n.optional(6);
  const Expression nothing = literal(e, minus_infinity);
  if (mask.defined()) {
    const Expression m = mask.at(Axes(at.end() - mask.rank(), at.end()));
    Expression bias = mask.type() == Type::boolean ? select(m, literal(e, 0), nothing) : cast(e.type(), m);
    if (is_short(n, n.input(3), scores)) bias = select(at[3] < mask.extent(-1), bias, nothing);
    e = e + bias;
  }
  const int64_t past = n.has(4) ? n.input(4).shape[2] : 0;
  if (n.attributes().integer("is_causal", 0) != 0) e = select(at[3] <= at[2] + past, e, nothing);
  return lengths.defined() ? select(at[3] < lengths(at[0]), e, nothing) : e;
}

void attention(Lowering &n) {
  const bool packed = n.input(0).rank() == 3;
  const Operand q = split_heads(n, n.input(0), "q_num_heads"), k = split_heads(n, n.input(1), "kv_num_heads"),
                v = split_heads(n, n.input(2), "kv_num_heads");
  if (n.has(4) != n.has(5)) fail("past_key and past_value come together");
  if (n.has(6) && n.has(4)) fail("nonpad_kv_seqlen and past_key exclude each other");
  const Operand keys = after_past(n, 4, k), values = after_past(n, 5, v);
  const int64_t precision = n.attributes().integer("softmax_precision", 0);
  const bool wide = q.type == Type::f64 || (precision != 0 && type_of_onnx(precision) == Type::f64);
  const Type type = wide ? Type::f64 : Type::f32;

  const double head_size = static_cast<double>(q.shape[3]);
  const double scale = n.attributes().real("scale", 1 / std::sqrt(head_size)), cap = n.attributes().real("softcap", 0);
  const Operand raw = head_scores(n, n.casted(q, type), n.casted(keys, type));
  expect_mask_and_lengths(n, raw.shape);
  // The scores after a stage, by the numbers of qk_matmul_output_mode: 0 scaled, 1 capped, 2 with the bias.
  const auto stage = [&](int64_t last, Type result) {
    return n.computed(formula::inlined(extents(raw.shape), [&](const Axes &at) {
      Expression e = Value(raw).at(at) * scale;
      if (last >= 1 && cap > 0) e = call(formula::Function::tanh, e / cap) * cap;
      if (last >= 2) e = biased(n, raw.shape, e, at);
      return cast(result, e);
    }));
  };
  const Operand weights = softmax(n, stage(2, raw.type), 3);

  Operand y = n.casted(weighted_values(n, weights, n.casted(values, type)), q.type);
  if (packed) y = n.reshaped(n.transposed(y, {0, 2, 1, 3}), {y.shape[0], y.shape[2], y.shape[1] * y.shape[3]});
  n.give(0, y);
  n.give(1, keys);
  n.give(2, values);
  if (!n.wants(3)) return;
  const int64_t mode = n.attributes().integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) fail("qk_matmul_output_mode is ", mode, "; expected 0 to 3");
  n.give(3, mode == 3 ? n.casted(weights, q.type) : stage(mode, q.type));
}

// ---- Positions as rotations: the pair (x1, x2) of a head's elements becomes (cos x1 - sin x2, sin x1 + cos x2).

void rotary_embedding(Lowering &n) {
  const Operand &given = n.input(0), &cosines = n.input(1), &sines = n.input(2);
  const Operand x = split_heads(n, given, "num_heads");
  const bool by_position = n.has(3), interleaved = n.attributes().integer("interleaved", 0) != 0;
  int64_t rotated = n.attributes().integer("rotary_embedding_dim", 0);
  if (rotated == 0) rotated = x.shape[3];
  const int64_t half = rotated / 2;
  if (rotated % 2 != 0 || rotated > x.shape[3]) fail("cannot rotate ", rotated, " of ", x.shape[3], " elements");
  for (const Operand *cache : {&cosines, &sines})
    if (cache->rank() != (by_position ? 2 : 3) || cache->shape.back() != half)
      fail("a cache of ", to_string(cache->shape), " for ", half, " pairs");
  const Type type = working_type(x.type);
  const Value from = x, places = by_position ? Value(n.input(3)) : Value();
  const Operand y = n.computed(formula::inlined(extents(x.shape), [&](const Axes &at) {
    const Expression in_head = at[3], which = interleaved ? in_head % 2 : in_head / half,
                     pair = interleaved ? in_head / 2 : in_head % half;
    const auto cached = [&](const Value &cache) {
      return cast(type, by_position ? cache(cast(Type::i64, places(at[0], at[2])), pair) : cache(at[0], at[2], pair));
    };
    const auto element = [&](const Expression &i) { return cast(type, from(at[0], at[1], at[2], i)); };
    const Expression first = element(interleaved ? pair * 2 : pair),
                     second = element(interleaved ? pair * 2 + 1 : pair + half);
    const Expression c = cached(cosines), s = cached(sines);
    const Expression turned = select(which == 0, c * first - s * second, s * first + c * second);
    return cast(x.type, select(in_head < rotated, turned, element(in_head)));
  }));
  n.give(0, given.rank() == 4 ? y : n.reshaped(n.transposed(y, {0, 2, 1, 3}), given.shape));
}

// ---- FlexAttention in three parts, between which its modifiers stand (runtime/onnx/control_flow.h puts them together):
// scale q k^T, softmax, and the product with v. The type in between is the one of `softmax_precision`, by default f64
// for f64 and f32 for all others.

void flex_scores(Lowering &n) {
  const Operand &q = n.input(0), &k = n.input(1);
  const Type precision = type_attribute(n.attributes(), "softmax_precision", working_type(q.type));
  if (!is_real(precision)) fail("softmax_precision is ", facts(precision).name, "; expected a real type");
  const Type type = working_type(q.type);
  const Operand raw = head_scores(n, n.casted(q, type), n.casted(k, type));
  const double scale = n.attributes().real("scale", 1 / std::sqrt(static_cast<double>(q.shape[3])));
  n.give(0, formula::cast(precision, Value(raw) * scale));
}

void flex_weights(Lowering &n) { n.give(0, softmax(n, n.input(0), 3)); }

void flex_values(Lowering &n) {
  const Operand &weights = n.input(0), &v = n.input(1);
  const Type type = weights.type == Type::f64 || v.type == Type::f64 ? Type::f64 : Type::f32;
  n.give(0, n.casted(weighted_values(n, n.casted(weights, type), n.casted(v, type)), v.type));
}

constexpr const char *domain = "saltern";

}  // namespace

const OperatorList attention_operators = {{"Attention", attention},
                                          {"FlexScores", flex_scores, nullptr, domain},
                                          {"FlexValues", flex_values, nullptr, domain},
                                          {"FlexWeights", flex_weights, nullptr, domain},
                                          {"RotaryEmbedding", rotary_embedding}};

}  // namespace saltern
