// Attention as ONNX Runtime has it: with the products before it (Attention), of three tensors in several forms
// (MultiHeadAttention), of groups of heads with a cache (GroupQueryAttention), and of quantized numbers (QAttention). What
// stands between is ONNX's Attention, with one bias for all that may hide a key.

#include <limits>

#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/microsoft.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

using namespace formula;

// (batch, length, heads * size) as (batch, heads, length, size), and back.
Operand split(Lowering &n, const Operand &x, int64_t heads) {
  if (x.rank() != 3 || heads < 1 || x.shape[2] % heads != 0)
    fail("an input of ", to_string(x.shape), " has no ", heads, " heads");
  return n.transposed(n.reshaped(x, {x.shape[0], x.shape[1], heads, x.shape[2] / heads}), {0, 2, 1, 3});
}
Operand merged_heads(Lowering &n, const Operand &x) {
  return n.reshaped(n.transposed(x, {0, 2, 1, 3}), {x.shape[0], x.shape[2], x.shape[1] * x.shape[3]});
}

int64_t heads_of(const Lowering &n, const char *attribute = "num_heads") {
  const int64_t heads = n.attributes().integer(attribute, 0);
  if (heads < 1) fail(attribute, " is ", heads, "; expected at least 1");
  return heads;
}

// ---- What is added to the scores (batch, heads, length, keys).

// Which keys a mask shows: by how many there are of each sequence, or from where to where, or one by one.
Value shown(const Operand &mask, int64_t batch, int64_t length, int64_t keys) {
  const Value m = cast(Type::i64, mask);
  const auto is = [&](const std::function<Expression(const Axes &)> &of) {
    return inlined({batch, 1, length, keys}, of);
  };
  if (mask.shape == Shape{batch}) return is([&](const Axes &at) { return at[3] < m(at[0]); });
  if (mask.shape == Shape{2 * batch})
    return is([&](const Axes &at) { return at[3] < m(at[0]) && m(at[0] + batch) <= at[3]; });
  const Expression zero = index(0);
  if (mask.shape == Shape{batch, keys}) return is([&](const Axes &at) { return zero < m(at[0], at[3]); });
  if (mask.shape == Shape{batch, length, keys})
    return is([&](const Axes &at) { return zero < m(at[0], at[2], at[3]); });
  // Of all positions, of which these are the last.
  if (mask.rank() == 4 && mask.shape[0] == batch && mask.shape[1] == 1 && mask.shape[2] >= keys &&
      mask.shape[3] >= keys)
    return is([&](const Axes &at) { return zero < m(at[0], 0, at[2] + (keys - length), at[3]); });
  fail("a mask of ", to_string(mask.shape), " for a batch of ", batch, ", ", length, " queries and ", keys, " keys");
}

// The mask and the bias together; absent where there is neither.
Operand score_bias(Lowering &n, const Operand &mask, const Operand &bias, const Operand &q, int64_t keys) {
  const int64_t batch = q.shape[0], length = q.shape[2];
  Value sum = bias.present() ? cast(Type::f32, bias) : Value();
  if (mask.present()) {
    const Value hidden = where(shown(mask, batch, length, keys), constant_value(Type::f32, 0),
                               constant_value(Type::f32, n.attributes().real("mask_filter_value", -10000)));
    sum = sum.defined() ? sum + hidden : hidden;
  }
  return sum.defined() ? n.computed(cast(q.type, sum)) : Operand();
}

Attributes attention_attributes(const Lowering &n) {
  Attributes a = {{"is_causal", n.attributes().integer("unidirectional", 0)}};
  if (const double scale = n.attributes().real("scale", 0); scale != 0) a.set("scale", scale);
  return a;
}

// ---- Attention, whose input is multiplied by weights first; the past is keys and values as one.

// qkv is (batch, length, all sizes).
void attend(Lowering &n, const Operand &qkv, const Operand &mask, const Operand &past, const Operand &bias) {
  const int64_t heads = heads_of(n);
  std::vector<int64_t> sizes = n.attributes().integers("qkv_hidden_sizes", {});
  if (sizes.empty()) sizes.assign(3, qkv.shape[2] / 3);
  if (sizes.size() != 3 || sizes[0] + sizes[1] + sizes[2] != qkv.shape[2])
    fail("qkv_hidden_sizes is ", to_string(sizes), " for weights of ", qkv.shape[2], " columns");
  if (n.attributes().integer("do_rotary", 0) != 0) unsupported("rotates queries and keys by itself (do_rotary)");
  std::vector<Operand> parts;
  int64_t begin = 0;
  for (int64_t size : sizes) {
    parts.push_back(split(n, sliced(n, qkv, 2, begin, size), heads));
    begin += size;
  }
  std::vector<Operand> pasts(2);
  if (past.present()) {
    if (past.rank() != 5 || past.shape[0] != 2) fail("a past of ", to_string(past.shape));
    for (int i = 0; i < 2; ++i) pasts[static_cast<size_t>(i)] = taken(n, past, 0, i);
  }
  const int64_t keys = qkv.shape[1] + (past.present() ? past.shape[3] : 0);
  const std::vector<Operand> y = n.by_operator(
      "Attention", {parts[0], parts[1], parts[2], score_bias(n, mask, bias, parts[0], keys), pasts[0], pasts[1]},
      attention_attributes(n), 3);
  n.give(0, merged_heads(n, y[0]));
  if (n.wants(1)) n.give(1, stacked(n, {y[1], y[2]}, 0));
}

void attention(Lowering &n) {
  if (n.has(6)) unsupported("shares the memory of past and present (past_sequence_length)");
  const Operand product = matmul(n, n.input(0), n.input(1));
  attend(n, n.has(2) ? n.computed(Value(product) + Value(n.input(2))) : product, n.optional(3), n.optional(4),
         n.optional(5));
}

void quantized_attention(Lowering &n) {
  const Operand sum = by(n, "MatMulInteger", {n.input(0), n.input(1), n.optional(6), n.optional(7)});
  const auto number = [&](size_t i) {
    return elements(n.input(i).shape) == 1 ? n.reshaped(n.input(i), {}) : n.input(i);
  };
  const Value scale = Value(number(3)) * Value(number(4));
  attend(n, n.computed(cast(n.input(2).type, sum) * scale + Value(n.input(2))), n.optional(5), n.optional(8), {});
}

// ---- Of three tensors: apart, or queries, keys and values of each head together.

// One of several that stand together behind the heads, (batch, length, heads, count, size).
Operand packed_part(Lowering &n, const Operand &x, int64_t i) { return n.transposed(taken(n, x, 3, i), {0, 2, 1, 3}); }

void multi_head_attention(Lowering &n) {
  const int64_t heads = heads_of(n);
  if (n.has(8) || n.has(9)) unsupported("shares the memory of past and present (past_sequence_length)");
  const Operand &query = n.input(0), &key = n.optional(1), &value = n.optional(2), &bias = n.optional(3);
  int64_t begin = 0;
  const auto biased = [&](const Operand &x) {
    if (!bias.present()) return split(n, x, heads);
    const Operand part = sliced(n, bias, 0, begin, x.shape.at(2));
    begin += x.shape[2];
    return split(n, n.computed(Value(x) + Value(part)), heads);
  };
  Operand q, k, v;
  if (query.rank() == 5) {
    if (bias.present()) unsupported("has a bias of packed queries, keys and values");
    q = packed_part(n, query, 0), k = packed_part(n, query, 1), v = packed_part(n, query, 2);
  } else if (key.rank() == 5) {
    if (bias.present()) unsupported("has a bias of packed keys and values");
    q = split(n, query, heads), k = packed_part(n, key, 0), v = packed_part(n, key, 1);
  } else if (key.rank() == 4) {  // keys and values of another sequence, as they are kept
    q = biased(query), k = key, v = value;
  } else {
    if (!key.present() || !value.present()) fail("key and value are missing");
    q = biased(query), k = biased(key), v = biased(value);
  }
  const int64_t keys = k.shape[2] + (n.has(6) ? n.input(6).shape.at(2) : 0);
  const std::vector<Operand> y = n.by_operator(
      "Attention", {q, k, v, score_bias(n, n.optional(4), n.optional(5), q, keys), n.optional(6), n.optional(7)},
      attention_attributes(n), 3);
  n.give(0, merged_heads(n, y[0]));
  n.give(1, y[1]);
  n.give(2, y[2]);
}

// ---- Rotations, whose positions are given one by one, or counted from one number on.

Operand rotated(Lowering &n, const Operand &x, const Operand &positions, const Operand &cosines, const Operand &sines,
                const Attributes &attributes) {
  return by(n, "RotaryEmbedding", {x, cosines, sines, positions}, attributes);
}

void rotary_embedding(Lowering &n) {
  const Operand &x = n.input(0), &places = n.input(1), &cosines = n.input(2);
  if (n.attributes().integer("is_packed_batching", 0) != 0) unsupported("has sequences of several lengths in one row");
  if ((x.rank() != 3 && x.rank() != 4) || cosines.rank() != 2)
    fail("an input of ", to_string(x.shape), " and a cache of ", to_string(cosines.shape));
  const int64_t batch = x.shape[0], length = x.shape[x.rank() == 3 ? 1 : 2];
  Operand positions = places;
  if (elements(places.shape) == 1 && places.shape != Shape{batch, length}) {
    const Value first = n.reshaped(places, {1});
    positions = n.computed(inlined({batch, length}, [&](const Axes &at) { return cast(Type::i64, first(0)) + at[1]; }));
  }
  expect_shape(positions, {batch, length}, "position_ids");
  Attributes a = some_attributes(n, {"interleaved", "rotary_embedding_dim"});
  const int64_t heads = n.attributes().integer("num_heads", 0);
  if (x.rank() == 3) a.set("num_heads", heads > 0 ? heads : x.shape[2] / (2 * cosines.shape[1]));
  n.give(0, rotated(n, x, positions, cosines, n.input(3), a));
}

// ---- Groups of heads, with a cache in which each sequence has a length of its own.

class GroupQueryAttention {
 public:
  explicit GroupQueryAttention(Lowering &n)
      : n_(n), heads_(heads_of(n)), kv_heads_(heads_of(n, "kv_num_heads")), lengths_(n.input(5)) {
    if (n.attributes().integer("smooth_softmax", 0) != 0 || n.has(11))
      unsupported("has something beside its keys in the softmax (smooth_softmax, head_sink)");
    const Operand &query = n.input(0);
    if (query.rank() != 3) fail("query is ", to_string(query.shape), "; expected (batch, length, size)");
    batch_ = query.shape[0], length_ = query.shape[1];
    total_ = n.known_integers(6, "the total length of sequences").at(0);
    if (elements(n.input(5).shape) != batch_ || total_ < length_)
      fail("seqlens_k is ", to_string(n.input(5).shape), " and total_sequence_length ", total_, " for a query of ",
           to_string(query.shape));
    if (n.has(1)) {
      q_ = split(n, query, heads_), k_ = split(n, n.input(1), kv_heads_), v_ = split(n, n.input(2), kv_heads_);
    } else {  // all in one
      const int64_t size = query.shape[2] / (heads_ + 2 * kv_heads_);
      const auto part = [&](int64_t first, int64_t count) {
        return split(n, sliced(n, query, 2, first * size, count * size), count);
      };
      q_ = part(0, heads_), k_ = part(heads_, kv_heads_), v_ = part(heads_ + kv_heads_, kv_heads_);
    }
    lengths_ = n.reshaped(n.input(5), {batch_});
  }

  void lower() {
    if (n_.attributes().integer("do_rotary", 0) != 0) {
      const Operand places = positions();
      const Attributes a = {{"interleaved", n_.attributes().integer("rotary_interleaved", 0)},
                            {"rotary_embedding_dim", 2 * n_.input(7).shape.back()}};
      q_ = rotated(n_, q_, places, n_.input(7), n_.input(8), a);
      k_ = rotated(n_, k_, places, n_.input(7), n_.input(8), a);
    }
    const Operand keys = present(k_, 3), values = present(v_, 4);
    Attributes a = {{"softcap", n_.attributes().real("softcap", 0)}};
    if (const double scale = n_.attributes().real("scale", 0); scale != 0) a.set("scale", scale);
    n_.give(0, merged_heads(n_, by(n_, "Attention", {q_, keys, values, bias(keys.shape[2])}, a)));
    n_.give(1, keys);
    n_.give(2, values);
  }

 private:
  // How many keys of a sequence were there before.
  Expression before(const Expression &sequence) const {
    if (length_ == total_) return index(0);  // the first call
    return cast(Type::i64, lengths_(sequence)) + 1 - length_;
  }

  Operand positions() {
    if (n_.has(9)) return n_.input(9);
    return n_.computed(inlined({batch_, length_}, [&](const Axes &at) { return before(at[0]) + at[1]; }));
  }

  Operand present(const Operand &now, size_t past_input) {
    const Operand &past = n_.optional(past_input);
    const int64_t kept = past.present() ? past.shape.at(2) : 0;
    Shape shape = now.shape;
    shape[2] = std::max(kept, total_);
    if (past.present() && past.shape != Shape{batch_, kv_heads_, kept, shape[3]})
      fail("a past of ", to_string(past.shape), " before ", to_string(now.shape));
    return n_.computed(inlined(extents(shape), [&](const Axes &at) {
      const Expression place = at[2] - before(at[0]);
      const Expression there =
          kept == 0 ? constant(now.type, 0) : Value(past)(at[0], at[1], min(at[2], kept - 1), at[3]);
      return select(place < 0, there,
                    select(place < length_, Value(now)(at[0], at[1], max(min(place, length_ - 1), 0), at[3]),
                           constant(now.type, 0)));
    }));
  }

  // Keys behind a query are hidden, and those that are out of its window. Every query sees one.
  static constexpr double hidden = -std::numeric_limits<double>::infinity();

  Operand bias(int64_t keys) {
    const int64_t window = n_.attributes().integer("local_window_size", -1);
    const Operand &given = n_.optional(10);
    return n_.computed(inlined({batch_, given.present() ? given.shape.at(1) : 1, length_, keys}, [&](const Axes &at) {
      const Expression last = before(at[0]) + at[2];
      Expression is_shown = at[3] <= last;
      if (window >= 0) is_shown = is_shown && at[3] > last - window;
      Expression e = constant(Type::f32, 0);
      if (given.present())
        e = cast(Type::f32, Value(given)(given.shape[0] == 1 ? Expression(0) : at[0], at[1], at[2],
                                         min(at[3], given.shape.at(3) - 1)));
      return select(is_shown, e, constant(Type::f32, hidden));
    }));
  }

  Lowering &n_;
  const int64_t heads_, kv_heads_;
  int64_t batch_ = 0, length_ = 0, total_ = 0;
  Operand q_, k_, v_;
  Value lengths_;
};

void group_query_attention(Lowering &n) { GroupQueryAttention(n).lower(); }

}  // namespace

const OperatorList microsoft_attention_operators = {
    {"Attention", attention, nullptr, microsoft},
    {"GroupQueryAttention", group_query_attention, nullptr, microsoft},
    {"MultiHeadAttention", multi_head_attention, nullptr, microsoft},
    {"QAttention", quantized_attention, nullptr, microsoft},
    {"RotaryEmbedding", rotary_embedding, nullptr, microsoft},
};

}  // namespace saltern
