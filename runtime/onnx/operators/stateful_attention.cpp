// Layers of language models that carry a state from token to token instead of all keys: linear attention, and the short
// convolution before it.

#include <cmath>

#include "algorithms/convolution.h"
#include "algorithms/functions.h"
#include "algorithms/normalisation.h"
#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/choices.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

using namespace formula;

// S_t = exp(g_t) S_{t-1} + k_t (x) u_t          g: `decay`, only of the gated rules
// u_t = v_t, or beta_t (v_t - exp(g_t) S_{t-1}^T k_t) of the delta rules
// o_t = scale q_t^T S_t
//
// S is (batch, heads, key size, value size); each state is read by a group of query heads, as rows of one product. All
// in f32.
class LinearAttention {
 public:
  explicit LinearAttention(Lowering &n) : n_(n), query_(n.input(0)), key_(n.input(1)), value_(n.input(2)) {
    const std::string rule = one_of({"linear", "gated", "delta", "gated_delta"}, "update_rule",
                                    n.attributes().word("update_rule", "gated_delta"));
    gated_ = rule.rfind("gated", 0) == 0;
    corrected_ = rule == "delta" || rule == "gated_delta";
    if (n.has(4) != gated_) fail("update_rule ", rule, gated_ ? " needs" : " has no", " decay");
    if (n.has(5) != corrected_) fail("update_rule ", rule, corrected_ ? " needs" : " has no", " beta");
    const int64_t query_heads = n.attributes().integer("q_num_heads");
    heads_ = n.attributes().integer("kv_num_heads");
    if (heads_ < 1 || query_heads < 1 || query_heads % heads_ != 0 || query_heads > elements(query_.shape))
      fail(query_heads, " query heads for ", heads_, " heads of keys; expected a multiple");
    group_ = query_heads / heads_;
    if (query_.rank() != 3 || key_.rank() != 3 || value_.rank() != 3)
      fail("query, key and value are expected to be (batch, length, heads * size)");
    batch_ = query_.shape[0];
    length_ = query_.shape[1];
    key_size_ = key_.shape[2] / heads_;
    value_size_ = value_.shape[2] / heads_;
    const Shape keys = {batch_, length_, heads_ * key_size_}, values = {batch_, length_, heads_ * value_size_};
    if (key_.shape != keys || value_.shape != values || query_.shape[2] != query_heads * key_size_)
      fail("query ", to_string(query_.shape), ", key ", to_string(key_.shape), " and value ", to_string(value_.shape),
           " do not fit each other");
    const double scale = n.attributes().real("scale", 0);
    scale_ = scale == 0 ? 1 / std::sqrt(static_cast<double>(key_size_)) : scale;
  }

  void lower() {
    const Shape shape = {batch_, heads_, key_size_, value_size_};
    expect_shape(n_.optional(3), shape, "past_state");
    const Type state_type = n_.has(3) ? n_.input(3).type : query_.type;
    Operand state = n_.has(3) ? n_.casted(n_.input(3), Type::f32) : filled(n_, Type::f32, shape, 0);
    std::vector<Operand> outputs;
    for (int64_t t = 0; t < length_; ++t) {
      if (gated_) state = decayed(state, t);
      state = updated(state, t);
      outputs.push_back(read(state, t));
    }
    const Shape packed = {batch_, length_, heads_ * group_ * value_size_};
    n_.give(0, outputs.empty() ? filled(n_, query_.type, packed, 0) : concatenated(n_, outputs, 1));
    n_.give(1, n_.casted(state, state_type));
  }

 private:
  Operand decayed(const Operand &state, int64_t t) const {
    const Operand &decay = n_.input(4);
    const bool by_head = decay.rank() == 3 && decay.shape[2] == heads_;
    if (decay.rank() != 3 || (!by_head && decay.shape[2] != heads_ * key_size_))
      fail("decay is ", to_string(decay.shape), "; expected one for each head or for each element of its keys");
    return n_.computed(inlined(extents(state.shape), [&](const Axes &at) {
      const Expression which = by_head ? at[1] : at[1] * key_size_ + at[2];
      return Value(state).at(at) * exp(cast(Type::f32, Value(decay)(at[0], t, which)));
    }));
  }

  // The rows of one moment: (batch, heads, rows of a head, size).
  Operand at_moment(const Operand &x, int64_t t, int64_t rows, int64_t size) const {
    return n_.computed(inlined({batch_, heads_, rows, size}, [&](const Axes &at) {
      return cast(Type::f32, Value(x)(at[0], t, (at[1] * rows + at[2]) * size + at[3]));
    }));
  }

  Operand updated(const Operand &state, int64_t t) const {
    const Operand k = at_moment(key_, t, 1, key_size_);
    Operand v = at_moment(value_, t, 1, value_size_);
    if (corrected_) {
      const Operand &beta = n_.input(5);
      if (beta.rank() != 3 || (beta.shape[2] != heads_ && beta.shape[2] != 1))
        fail("beta is ", to_string(beta.shape), "; expected one for each head or one for all");
      const Operand known = matrix_product(n_, k, state);
      const Value now = inlined({batch_, heads_, 1, 1}, [&](const Axes &at) {
        return cast(Type::f32, Value(beta)(at[0], t, beta.shape[2] == 1 ? Expression(0) : at[1]));
      });
      v = n_.computed(now * (Value(v) - Value(known)));
    }
    return n_.computed(Value(state) + permuted(k, {0, 1, 3, 2}) * Value(v));
  }

  // (batch, 1, query heads * value size)
  Operand read(const Operand &state, int64_t t) const {
    const Operand o = matrix_product(n_, at_moment(query_, t, group_, key_size_), state);
    const Value row = n_.reshaped(o, {batch_, 1, heads_ * group_ * value_size_});
    return n_.computed(cast(query_.type, row * scale_));
  }

  Lowering &n_;
  const Operand &query_, &key_, &value_;
  bool gated_ = false, corrected_ = false;
  int64_t heads_ = 0, group_ = 0, batch_ = 0, length_ = 0, key_size_ = 0, value_size_ = 0;
  double scale_ = 1;
};

void linear_attention(Lowering &n) { LinearAttention(n).lower(); }

// Each channel with its own kernel over the present and the k - 1 elements before it; those before the beginning are
// the state.
void causal_convolution(Lowering &n) {
  const Operand &x = n.input(0), &weight = n.input(1);
  if (x.rank() != 3 || weight.rank() != 3 || weight.shape[0] != x.shape[1] || weight.shape[1] != 1 ||
      weight.shape[2] < 1)
    fail("an input of ", to_string(x.shape), " and weights of ", to_string(weight.shape),
         "; expected (batch, channels, length) and (channels, 1, k)");
  const std::string activation =
      one_of({"none", "silu", "swish"}, "activation", n.attributes().word("activation", "none"));
  const int64_t before = weight.shape[2] - 1;
  const Shape state = {x.shape[0], x.shape[1], before};
  expect_shape(n.optional(3), state, "past_state");
  const Value now = x, past = n.has(3) ? n.input(3) : filled(n, x.type, state, 0),
              kernel = cast(working_type(x.type), weight);
  const Value padded = inlined({x.shape[0], x.shape[1], before + x.shape[2]}, [&](const Axes &at) {
    return select(at[2] < before, past.at(at), now(at[0], at[1], at[2] - before));
  });
  Value y = algorithms::convolution(cast(kernel.type(), padded), kernel, algorithms::Slide(), x.shape[1]);
  if (n.has(2)) y = y + algorithms::by_channel(cast(kernel.type(), n.input(2)), y);
  if (activation != "none") y = algorithms::silu(y);
  n.give(0, cast(x.type, y));
  n.give(1, inlined(extents(state), [&](const Axes &at) { return padded(at[0], at[1], at[2] + x.shape[2]); }));
}

}  // namespace

const OperatorList stateful_attention_operators = {{"CausalConvWithState", causal_convolution},
                                                   {"LinearAttention", linear_attention}};

}  // namespace saltern
