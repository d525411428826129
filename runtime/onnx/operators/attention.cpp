// Attention: y = softmax(cap(scale q k^T) + bias) v, for each head.
//
// Query heads that share a key head (grouped and multi-query attention) stand next to each other, so the product of a
// group with its keys is one product of more rows; nothing is repeated. Types below f32 are computed in f32 throughout,
// which is at least the precision that `softmax_precision` can ask for.

#include <cmath>
#include <limits>

#include "runtime/onnx/operators/attention.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/contraction.h"
#include "runtime/onnx/operators/onnx_types.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/operators/softmax.h"

namespace saltern {

namespace {

// (B, Hq, L, X) as (B, Hkv, rows of the group, X), for keys or values of Hkv heads.
Operand grouped(Lowering &n, const Operand &x, const Operand &of) {
  if (x.rank() != 4 || of.rank() != 4)
    fail("an input of ", to_string(x.rank() == 4 ? of.shape : x.shape), "; expected (batch, heads, length, size)");
  const int64_t heads = of.shape[1];
  if (x.shape[0] != of.shape[0] || heads == 0 || x.shape[1] % heads != 0)
    fail("heads of ", to_string(x.shape), " and ", to_string(of.shape), " do not fit each other");
  return n.reshaped(x, {x.shape[0], heads, x.shape[1] / heads * x.shape[2], x.shape[3]});
}

}  // namespace

Operand head_scores(Lowering &n, const Operand &q, const Operand &k) {
  const Operand rows = grouped(n, q, k);
  return n.reshaped(matrix_product(n, rows, n.transposed(k, {0, 1, 3, 2})),
                    {q.shape[0], q.shape[1], q.shape[2], k.shape[2]});
}

Operand weighted_values(Lowering &n, const Operand &weights, const Operand &v) {
  const Operand rows = grouped(n, weights, v);
  return n.reshaped(matrix_product(n, rows, v), {weights.shape[0], weights.shape[1], weights.shape[2], v.shape[3]});
}

namespace {

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

// What is added to the scores at a place: the mask, the order of time, and the lengths of padded keys.
class Bias {
 public:
  Bias(Lowering &n, const Shape &scores, int64_t past) : past_(past), causal_(n.attributes().integer("is_causal", 0)) {
    if (n.has(3)) add_mask(n, scores);
    if (n.has(6)) {
      const Operand &lengths = n.input(6);
      if (lengths.shape != Shape{scores[0]})
        fail("nonpad_kv_seqlen is ", to_string(lengths.shape), "; expected one length for each of ", scores[0]);
      lengths_ = static_cast<int>(operands_.size());
      operands_.push_back(lengths);
    }
  }

  bool empty() const { return operands_.empty() && !causal_; }
  const std::vector<Operand> &operands() const { return operands_; }

  // `reads` are operands().
  Expression added(const Expression &score, const Reads &reads, size_t first, const Axes &at) const {
    const Expression nothing = literal(score, minus_infinity);
    Expression e = score;
    if (mask_ >= 0) {
      const Read &mask = reads[first + static_cast<size_t>(mask_)];
      const Expression m = mask(mask_indices(mask.shape(), at));
      Expression bias = mask.type() == Type::boolean ? select(m, literal(score, 0), nothing) : cast(score.type(), m);
      if (padded_) bias = select(at[3] < mask.shape().back(), bias, nothing);
      e = e + bias;
    }
    if (causal_) e = select(at[3] <= at[2] + past_, e, nothing);
    if (lengths_ >= 0) e = select(at[3] < reads[first + static_cast<size_t>(lengths_)]({at[0]}), e, nothing);
    return e;
  }

 private:
  void add_mask(Lowering &n, const Shape &scores) {
    const Operand &mask = n.input(3);
    const size_t rank = mask.shape.size();
    // From opset 24 on, a mask that is shorter than the keys ends with "no".
    padded_ = n.opset() >= 24 && rank > 0 && mask.shape.back() < scores[3];
    bool fits = rank <= 4;
    for (size_t d = 0; fits && d < rank; ++d)
      fits = mask.shape[d] == 1 || mask.shape[d] == scores[4 - rank + d] || (padded_ && d + 1 == rank);
    if (!fits) fail("the mask ", to_string(mask.shape), " does not broadcast to ", to_string(scores));
    mask_ = static_cast<int>(operands_.size());
    operands_.push_back(mask);
  }

  std::vector<Expression> mask_indices(const Shape &shape, const Axes &at) const {
    std::vector<Expression> indices;
    for (size_t d = 0; d < shape.size(); ++d)
      indices.push_back(shape[d] == 1 ? formula::constant_integer(Type::i64, 0) : at[4 - shape.size() + d]);
    return indices;
  }

  std::vector<Operand> operands_;
  int64_t past_;
  bool causal_, padded_ = false;
  int mask_ = -1, lengths_ = -1;  // their numbers in operands_
};

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
  const Bias bias(n, raw.shape, n.has(4) ? n.input(4).shape[2] : 0);
  std::vector<Operand> operands = {raw};
  operands.insert(operands.end(), bias.operands().begin(), bias.operands().end());
  // The scores after a stage, by the numbers of qk_matmul_output_mode: 0 scaled, 1 capped, 2 with the bias.
  const auto stage = [&](int64_t last, Type result) {
    return n.formula(result, raw.shape, operands, [&](const Reads &r, const Axes &at) {
      Expression e = r[0].here() * scale;
      if (last >= 1 && cap > 0) e = call(formula::Function::tanh, e / cap) * cap;
      if (last >= 2 && !bias.empty()) e = bias.added(e, r, 1, at);
      return cast(result, e);
    });
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
  std::vector<Operand> operands = {x, cosines, sines};
  if (by_position) operands.push_back(n.input(3));
  const Type type = working_type(x.type);
  const Operand y = n.formula(x.type, x.shape, operands, [&](const Reads &r, const Axes &at) {
    const Expression in_head = at[3], which = interleaved ? in_head % 2 : in_head / half,
                     pair = interleaved ? in_head / 2 : in_head % half;
    const auto cached = [&](const Read &cache) {
      if (!by_position) return cast(type, cache({at[0], at[2], pair}));
      return cast(type, cache({cast(Type::i64, r[3]({at[0], at[2]})), pair}));
    };
    const auto element = [&](const Expression &i) { return cast(type, r[0]({at[0], at[1], at[2], i})); };
    const Expression first = element(interleaved ? pair * 2 : pair),
                     second = element(interleaved ? pair * 2 + 1 : pair + half);
    const Expression c = cached(r[1]), s = cached(r[2]);
    const Expression turned = select(which == 0, c * first - s * second, s * first + c * second);
    return cast(x.type, select(in_head < rotated, turned, element(in_head)));
  });
  n.give(0, given.rank() == 4 ? y : n.reshaped(n.transposed(y, {0, 2, 1, 3}), given.shape));
}

}  // namespace

const OperatorList &attention_operators() {
  static const OperatorList list = {{"Attention", attention}, {"RotaryEmbedding", rotary_embedding}};
  return list;
}

}  // namespace saltern
