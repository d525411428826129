// A step of a language model computes what the whole net does, with all characters before it.

#include <gtest/gtest.h>

#include "apps/language_model/gpt.h"
#include "apps/language_model/lstm.h"

namespace saltern {
namespace {

constexpr int64_t characters = 11, context = 9;

LanguageOptions tiny() {
  LanguageOptions o;
  o.characters = characters;
  o.width = 12;
  o.layers = 2;
  o.heads = 3;
  o.context = context;
  return o;
}

Tensor some_tokens(int64_t count) {
  Random random(3);
  const Tensor t = Tensor::empty({1, count}, Type::i64);
  for (int64_t i = 0; i < count; ++i) t.at<int64_t>({0, i}) = static_cast<int64_t>(random.below(characters));
  return t;
}

// Rows of scores, one for each token.
std::vector<std::vector<double>> by_steps(LanguageModel &net, const Tensor &tokens) {
  std::vector<Variable> state;
  for (const auto &[name, tensor] : net.beginning()) state.emplace_back(tensor);
  std::vector<std::vector<double>> all;
  for (const int64_t token : tokens.integers()) {
    const LanguageModel::Stepped s = net.step(Tensor::of<int64_t>({1}, {token}), state);
    state = s.state;
    all.push_back(s.scores.value().reals());
  }
  return all;
}

void expect_same(const std::vector<std::vector<double>> &got, const std::vector<double> &want) {
  for (size_t t = 0; t < got.size(); ++t)
    for (size_t c = 0; c < static_cast<size_t>(characters); ++c)
      ASSERT_NEAR(got[t][c], want[t * characters + c], 1e-5) << "token " << t << ", character " << c;
}

// Weights that nothing was learned with are small; distances do nothing at first.
template <typename Net>
void shake(Net &net) {
  Random random(5);
  net.eval();
  for (const Variable &p : net.parameters()) p.value().copy_from(random.uniform_tensor(p.shape(), -0.7F, 0.7F));
}

TEST(LanguageSteps, AnLstmKeepsWhatCameBefore) {
  const NoGradient guard;
  LstmModel net(tiny());
  shake(net);
  const Tensor tokens = some_tokens(2 * context);
  expect_same(by_steps(net, tokens), net(tokens).value().reals());
}

TEST(LanguageSteps, AGptHasTheKeysAndValuesOfWhatCameBefore) {
  const NoGradient guard;
  GptModel net(tiny());
  shake(net);
  const Tensor tokens = some_tokens(context);
  expect_same(by_steps(net, tokens), net(tokens).value().reals());
}

// With one block, what is out of sight has no part in it: past the context, a step is the whole net on the last characters.
TEST(LanguageSteps, WhatAGptNoLongerSeesIsForgotten) {
  const NoGradient guard;
  LanguageOptions o = tiny();
  o.layers = 1;
  GptModel net(o);
  shake(net);
  const Tensor tokens = some_tokens(3 * context + 2);
  const auto got = by_steps(net, tokens);
  for (int64_t t = context; t < tokens.size(); ++t) {
    const std::vector<double> want = net(tokens.slice(1, t + 1 - context, context).clone()).value().reals();
    for (int64_t c = 0; c < characters; ++c)
      ASSERT_NEAR(got[static_cast<size_t>(t)][static_cast<size_t>(c)],
                  want[static_cast<size_t>((context - 1) * characters + c)], 1e-5)
          << "token " << t << ", character " << c;
  }
}

TEST(LanguageSteps, WhatComesLaterChangesNothing) {
  const NoGradient guard;
  GptModel net(tiny());
  shake(net);
  const Tensor tokens = some_tokens(context), other = tokens.clone();
  other.at<int64_t>({0, context - 1}) = (tokens.at<int64_t>({0, context - 1}) + 1) % characters;
  const std::vector<double> a = net(tokens).value().reals(), b = net(other).value().reals();
  const size_t before = (context - 1) * characters;
  EXPECT_TRUE(std::equal(a.begin(), a.begin() + before, b.begin()));
  EXPECT_FALSE(std::equal(a.begin() + before, a.end(), b.begin() + before));
}

}  // namespace
}  // namespace saltern
