// Norms of sums, embeddings that end with one, and forms of Gelu.

#include "algorithms/functions.h"
#include "algorithms/normalisation.h"
#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/microsoft.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

using namespace formula;

Attributes last_axis(const Lowering &n, double epsilon) {
  return {{"axis", int64_t{-1}}, {"epsilon", n.attributes().real("epsilon", epsilon)}};
}

// ---- norm(input + skip + bias): results are that, the mean, 1 / deviation, and the sum.

Operand sum_with_skip(Lowering &n, size_t bias) {
  const Operand &x = n.input(0), &skip = n.input(1);
  expect_same_type(x, skip);
  if (x.rank() < 2 || broadcast_shape(x.shape, skip.shape, "input and skip") != x.shape)
    fail("a skip of ", to_string(skip.shape), " for an input of ", to_string(x.shape));
  expect_shape(n.optional(bias), {x.shape.back()}, "bias");
  const Type type = working_type(x.type);
  const Value sum = cast(type, x) + cast(type, skip);
  return n.computed(cast(x.type, n.has(bias) ? sum + cast(type, n.input(bias)) : sum));
}

void skip_layer_norm(Lowering &n) {
  const Operand sum = sum_with_skip(n, 4);
  const std::vector<Operand> norm = n.by_operator("LayerNormalization", {sum, n.input(2), n.optional(3)},
                                                  last_axis(n, 1e-12), n.wants(1) || n.wants(2) ? 3 : 1);
  for (size_t i = 0; i < norm.size(); ++i) n.give(i, norm[i]);
  n.give(3, sum);
}

// 1 / sqrt(mean of x^2 + epsilon) over the last axes.
Value deviation_factor(const Operand &x, int first, double epsilon) {
  std::vector<int> axes;
  for (int d = first; d < x.rank(); ++d) axes.push_back(d);
  const Value wide = cast(working_type(x.type), x);
  return 1 / sqrt(mean(wide * wide, axes) + epsilon);
}

void skip_simplified_layer_norm(Lowering &n) {
  const Operand sum = sum_with_skip(n, 3);
  const Attributes attributes = last_axis(n, 1e-12);
  n.give(0, by(n, "RMSNormalization", {sum, n.input(2)}, attributes));
  n.give(2, deviation_factor(sum, sum.rank() - 1, attributes.real("epsilon")));
  n.give(3, sum);
}

void simplified_layer_norm(Lowering &n) {
  const Operand &x = n.input(0);
  n.give(0, by(n, "RMSNormalization", {x, n.input(1)}, n.attributes()));
  n.give(1, deviation_factor(x, n.axis(n.attributes().integer("axis", -1), x.rank()),
                             n.attributes().real("epsilon", 1e-5)));
}

// Words, positions and segments by their tables, summed and normalised; and how long each sequence is.
void embed_layer_norm(Lowering &n) {
  const Operand &ids = n.input(0), &words = n.input(2), &positions = n.input(3);
  if (ids.rank() != 2 || words.rank() != 2 || positions.rank() != 2 || positions.shape[1] != words.shape[1])
    fail("input_ids ", to_string(ids.shape), ", word_embedding ", to_string(words.shape), " and position_embedding ",
         to_string(positions.shape), "; expected (batch, sequence) and two tables of one width");
  const int64_t batch = ids.shape[0], length = ids.shape[1], width = words.shape[1];
  expect_indices(ids, words.shape[0]);
  const Operand &places = n.optional(8), &segments = n.optional(1);
  if (!places.present() && length > positions.shape[0])
    fail("sequences of ", length, " and ", positions.shape[0], " positions");
  if (places.present() && places.shape != Shape{1, length}) expect_shape(places, ids.shape, "position_ids");
  expect_shape(segments, ids.shape, "segment_ids");
  const Value word = ids, table = words, place_table = positions;
  const Type type = working_type(words.type);
  const Operand sum = n.computed(inlined({batch, length, width}, [&](const Axes &at) {
    const Expression place =
        places.present() ? cast(Type::i64, Value(places)(places.shape[0] == 1 ? Expression(0) : at[0], at[1])) : at[1];
    Expression e =
        cast(type, table(cast(Type::i64, word(at[0], at[1])), at[2])) + cast(type, place_table(place, at[2]));
    if (segments.present())
      e = e + cast(type, Value(n.input(4))(cast(Type::i64, Value(segments)(at[0], at[1])), at[2]));
    return cast(words.type, e);
  }));
  n.give(0, by(n, "LayerNormalization", {sum, n.input(5), n.input(6)}, last_axis(n, 1e-12)));
  if (n.wants(1))
    n.give(1, n.has(7) ? n.casted(by(n, "ReduceSum", {n.input(7), n.constant(Tensor::of<int64_t>({1}, {1}))},
                                     {{"keepdims", int64_t{0}}}),
                                  Type::i32)
                       : filled(n, Type::i32, {batch}, 0));
  n.give(2, sum);
}

// ---- Gelu, in several forms; the second input is added before.

template <Value (*of)(const Value &)>
void with_bias(Lowering &n) {
  const Operand &x = n.input(0);
  const Type type = working_type(x.type);
  Value in = cast(type, x);
  if (n.has(1)) {
    expect_shape(n.input(1), {x.shape.back()}, "the bias");
    in = in + cast(type, n.input(1));
  }
  n.give(0, cast(x.type, of(in)));
}

void quick_gelu(Lowering &n) {
  const Operand &x = n.input(0);
  n.give(0, cast(x.type, algorithms::swish(cast(working_type(x.type), x), n.attributes().real("alpha", 1.702))));
}

// The first half of x + bias times the Gelu of the second.
void bias_split_gelu(Lowering &n) {
  const Operand &x = n.input(0);
  if (x.rank() < 1 || x.shape.back() % 2 != 0) fail("x is ", to_string(x.shape), "; its last extent is to be even");
  expect_shape(n.input(1), {x.shape.back()}, "the bias");
  const Value sum = Value(x) + Value(n.input(1));
  Shape half = x.shape;
  half.back() /= 2;
  const auto part = [&](int64_t begin) {
    return inlined(extents(half), [&](Axes at) {
      at.back() = at.back() + begin;
      return cast(working_type(x.type), sum.at(at));
    });
  };
  n.give(0, cast(x.type, part(0) * algorithms::gelu(part(half.back()))));
}

}  // namespace

const OperatorList microsoft_norm_operators = {
    {"BiasGelu", with_bias<algorithms::gelu>, nullptr, microsoft},
    {"BiasSplitGelu", bias_split_gelu, nullptr, microsoft},
    {"EmbedLayerNormalization", embed_layer_norm, nullptr, microsoft},
    {"FastGelu", with_bias<algorithms::gelu_tanh>, nullptr, microsoft},
    {"Gelu", with_bias<algorithms::gelu>, nullptr, microsoft},
    {"QuickGelu", quick_gelu, nullptr, microsoft},
    {"SimplifiedLayerNormalization", simplified_layer_norm},  // which ONNX Runtime has in ONNX's own domain
    {"SimplifiedLayerNormalization", simplified_layer_norm, nullptr, microsoft},
    {"SkipLayerNormalization", skip_layer_norm, nullptr, microsoft},
    {"SkipSimplifiedLayerNormalization", skip_simplified_layer_norm, nullptr, microsoft},
};

}  // namespace saltern
