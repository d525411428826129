// Attention and its relatives against loops, where heads are shared, masks are short and sequences have a past.

#include <gtest/gtest.h>

#include <cmath>

#include "tests/run_operator.h"

namespace saltern {
namespace {

// Numbers that differ from each other and stay small.
Tensor pattern(const Shape &shape, double phase, Type type = Type::f32) {
  std::vector<double> values;
  for (int64_t i = 0; i < elements(shape); ++i) values.push_back(std::sin(static_cast<double>(i) * 0.7 + phase));
  return numbers(shape, values, type);
}

double at(const Tensor &t, int64_t b, int64_t h, int64_t l, int64_t e) {
  return t.reals()[static_cast<size_t>(((b * t.extent(1) + h) * t.extent(2) + l) * t.extent(3) + e)];
}

// Heads of queries share those of keys; a query sees the keys up to its own place, and the first `seen` of them.
TEST(Attention, GroupsMaskAndOrderAreThoseOfALoop) {
  const int64_t heads = 4, shared = 2, queries = 3, keys = 5, size = 6, values = 2, seen = 4;
  const Tensor q = pattern({1, heads, queries, size}, 0, Type::f64), k = pattern({1, shared, keys, size}, 1, Type::f64),
               v = pattern({1, shared, keys, values}, 2, Type::f64);
  const Tensor mask = Tensor::of<bool>({queries, seen}, std::vector<bool>(static_cast<size_t>(queries * seen), true));
  const OperatorCall call = {"Attention", {q, k, v, mask}, {{"is_causal", int64_t{1}}, {"softcap", 1.5}}};
  const Tensor y = call.lowered()[0].tensor();
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t l = 0; l < queries; ++l)
      for (int64_t f = 0; f < values; ++f) {
        double total = 0, sum = 0;
        for (int64_t s = 0; s < keys && s < seen && s <= l; ++s) {
          double score = 0;
          for (int64_t e = 0; e < size; ++e) score += at(q, 0, h, l, e) * at(k, 0, h / 2, s, e);
          const double weight = std::exp(1.5 * std::tanh(score / std::sqrt(6.0) / 1.5));
          total += weight;
          sum += weight * at(v, 0, h / 2, s, f);
        }
        EXPECT_NEAR(at(y, 0, h, l, f), sum / total, 1e-9) << h << " " << l << " " << f;
      }
}

TEST(Attention, APastIsWhatComesBeforeTheKeys) {
  const Tensor q = pattern({2, 2, 2, 4}, 0), k = pattern({2, 2, 5, 4}, 1), v = pattern({2, 2, 5, 3}, 2);
  const Tensor whole = OperatorCall{"Attention", {q, k, v}}.lowered()[0].tensor();
  const auto part = [](const Tensor &t, int64_t begin, int64_t count) {
    return t.slice(2, begin, count).in_layout(Layout::row_major).clone();
  };
  const OperatorCall split = {
      "Attention", {q, part(k, 3, 2), part(v, 3, 2), HostValue(), part(k, 0, 3), part(v, 0, 3)}, {}, 3};
  const std::vector<HostValue> results = split.lowered();
  EXPECT_EQ(values_of<float>(results[0]), values_of<float>(HostValue(whole)));
  EXPECT_EQ(values_of<float>(results[1]), values_of<float>(HostValue(k)));
}

TEST(Attention, RefusesAMaskThatFitsNothing) {
  const Tensor q = pattern({1, 1, 2, 4}, 0), k = pattern({1, 1, 3, 4}, 1), v = pattern({1, 1, 3, 4}, 2);
  EXPECT_THROW((OperatorCall{"Attention", {q, k, v, pattern({3, 3}, 0)}}.lowered()), Error);
}

// Two calls with a state between them are one call.
TEST(LinearAttention, AStateContinuesTheSequence) {
  const Attributes attributes = {{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}};
  const Tensor q = pattern({1, 4, 12}, 0), k = pattern({1, 4, 6}, 1), v = pattern({1, 4, 4}, 2),
               decay = pattern({1, 4, 2}, 3), beta = pattern({1, 4, 2}, 4);
  const auto from = [&](int64_t begin, int64_t count, const HostValue &state) {
    const auto part = [&](const Tensor &t) { return t.slice(1, begin, count).clone().in_layout(Layout::row_major); };
    const OperatorCall call = {
        "LinearAttention", {part(q), part(k), part(v), state, part(decay), part(beta)}, attributes, 2};
    return call.lowered();
  };
  const std::vector<HostValue> whole = from(0, 4, {}), first = from(0, 1, {}), rest = from(1, 3, first[1]);
  const std::vector<float> expected = values_of<float>(whole[0]), got = values_of<float>(rest[0]);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[expected.size() - got.size() + i], 1e-5);
}

}  // namespace
}  // namespace saltern
