// Recurrences: what a turn is made of, in parts and as a whole, and what is none.

#include "dsl/recurrence.h"

#include <gtest/gtest.h>

#include "dsl/derivative.h"
#include "runtime/formula/computation.h"
#include "tests/algorithm_cases.h"

namespace saltern {
namespace {

// Why these are no turns; "" where they are.
std::string refusal_of(const formula::NextStates &next) {
  try {
    formula::recurrent("r", {formula::input("first", {3})}, 4, next);
  } catch (const std::invalid_argument &e) {
    return e.what();
  }
  return "";
}

bool is_refused(const formula::NextStates &next, const std::string &reason) {
  return refusal_of(next).find(reason) != std::string::npos;
}

TEST(Recurrence, IsRefusedWhereATurnSeesOthers) {
  const auto at_turn_before = [](const Values &s) -> Values {
    return {compute("y", s[0].extents(), [&](const Axes &at) { return s[0](at[0] - 1, at[1]); })};
  };
  EXPECT_TRUE(is_refused(at_turn_before, "at another turn than its own in 'y'"));
  const auto of_all_turns = [](const Values &s) -> Values { return {s[0] + named("all", sum(s[0], {0}))}; };
  EXPECT_TRUE(is_refused(of_all_turns, "of states of several turns"));
  const auto along_turns = [](const Values &s) -> Values { return {running(formula::Function::sum, s[0], 0)}; };
  EXPECT_TRUE(is_refused(along_turns, "goes along its turns by a scan"));
  const auto nested = [](const Values &s) {
    return formula::recurrent("inner", {formula::input("other", {3})}, 4,
                              [&](const Values &inner) -> Values { return {inner[0] + s[0]}; });
  };
  EXPECT_TRUE(is_refused(nested, "has another one inside of it"));
  const auto sound = [](const Values &s) -> Values { return {s[0] * 2}; };
  EXPECT_EQ(refusal_of(sound), "");
}

TEST(Recurrence, SaysWhatDoesNotFit) {
  EXPECT_EQ(refusal_of([](const Values &) { return Values(); }),
            "recurrence 'r' has another number of states after a turn");
  EXPECT_EQ(refusal_of([](const Values &s) -> Values { return {sum(s[0], {1})}; }),
            "recurrence 'r' has a state 0 of another shape or type after a turn");
}

// Of an LSTM, only the product with the states is inside of a turn; whatever is a sum over turns is behind the last.
TEST(Recurrence, WhatNoStateWaitsForIsComputedAtOnce) {
  const Value x = formula::input("x", {8, 2, 5}), h0 = formula::input("h0", {2, 3}), c0 = formula::input("c0", {2, 3});
  const RecurrentWeights by = {formula::input("w", {12, 5}), formula::input("r", {12, 3}), {}, {}};
  const LstmStates s = lstm(x, by, h0, c0, sigmoid, [](const Value &v) { return tanh(v); });
  const auto products_in_turns = [](const Values &outputs) {
    std::map<std::string, int> count;
    for (const auto &at : stages_of(outputs))
      if (at->is_recurrent() && at->state == 0)
        for (const auto &waiting : at->recurrence->waiting) count[at->name] += waiting->reduction.has_value();
    return count;
  };
  EXPECT_EQ(products_in_turns({s.hidden}), (std::map<std::string, int>{{"lstm", 1}}));
  const Value dy = formula::input("dy", {8, 2, 3});
  EXPECT_EQ(products_in_turns(gradient({s.hidden}, {dy}, {by.r}))["back_lstm"], 1);
}

// States may change places, and one may be no state at all.
TEST(Recurrence, StatesThatNothingIsComputedOf) {
  const Value a = formula::input("a", {2}), b = formula::input("b", {2}), x = formula::input("x", {3, 2});
  const Values states = formula::recurrent("r", {a, b, a}, 3, [&](const Values &s) -> Values {
    return {s[1], s[0], x * 2};
  });
  const std::vector<Tensor> got = evaluate(
      formula::exact_formulas({a, b, x}, states),
      {Tensor::of<float>({2}, {1, 2}), Tensor::of<float>({2}, {3, 4}), Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6})});
  EXPECT_EQ(got[0].reals(), (std::vector<double>{3, 4, 1, 2, 3, 4}));
  EXPECT_EQ(got[1].reals(), (std::vector<double>{1, 2, 3, 4, 1, 2}));
  EXPECT_EQ(got[2].reals(), (std::vector<double>{2, 4, 6, 8, 10, 12}));
}

class InParts : public testing::TestWithParam<std::pair<std::string, std::function<Case()>>> {};

TEST_P(InParts, IsWhatTheInterpreterGivesAtOnce) {
  Case c = GetParam().second();
  Values all = c.outputs;
  for (const Value &v : gradient(c.outputs, seeded(c.outputs, c.given, "dy"), c.wanted)) all.push_back(v);
  const formula::ExactFormulas formulas = formulas_of(all, c.given);
  const std::vector<Tensor> got = Computation(formulas, Runs::often)(c.given.tensors),
                            want = evaluate(formulas, c.given.tensors);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i].reals(), want[i].reals()) << i;
}

INSTANTIATE_TEST_SUITE_P(Recurrences, InParts, testing::ValuesIn(recurrent_cases()),
                         [](const auto &info) { return case_name(info.param.first, info.index); });

}  // namespace
}  // namespace saltern
