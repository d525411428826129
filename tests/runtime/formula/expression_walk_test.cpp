// Formulas whose parts are used again and again: walks take as long as there are nodes, not as there are uses.

#include <gtest/gtest.h>

#include "dsl/index_bounds.h"
#include "runtime/formula/evaluate.h"

namespace saltern::formula {
namespace {

Expression x0(std::vector<Expression> at) { return load(0, Type::f32, std::move(at)); }

int count_nodes(const Expression &e) {
  int nodes = 0;
  for_each_node(e, [&](const Expression::Node &) { ++nodes; });
  return nodes;
}

TEST(ExpressionWalk, DescentEntersEachNodeOnce) {
  Expression e = x0({axis(0)});
  for (int i = 0; i < 100; ++i) e = e * e + e;
  int entered = 0;
  descend(e, [&](const Expression::Node &) { return ++entered, true; });
  EXPECT_EQ(entered, count_nodes(e));
  EXPECT_EQ(entered, 202);
}

TEST(ExpressionWalk, DescentLeavesOutTheArgumentsOfWhatIsRefused) {
  std::vector<Expression::Kind> entered;
  descend(exp(x0({axis(0)})), [&](const Expression::Node &n) {
    entered.push_back(n.kind);
    return n.kind != Expression::Kind::load;
  });
  EXPECT_EQ(entered, (std::vector{Expression::Kind::call, Expression::Kind::load}));
}

TEST(ExpressionWalk, EqualPartsAreOneNode) {
  const auto gate = [] { return 1.0 / (1.0 + exp(-x0({axis(0), axis(1)}))); };
  const Expression once = gate() * gate() + x0({axis(0), axis(1)});
  EXPECT_EQ(once->arguments[0]->arguments[0].get(), once->arguments[0]->arguments[1].get());
  EXPECT_EQ(to_string(parse_expression(to_string(once))), to_string(once));
  EXPECT_EQ(count_nodes(once), 10);  // two axes, load, negate, exp, 1, sum, quotient, product, sum
}

TEST(ExpressionWalk, PartsThatDifferStayTwo) {
  const Expression x = x0({axis(0)});
  for (const Expression &e :
       {x + load(1, Type::f32, {axis(0)}), x + x0({axis(1)}), exp(x) + log(x),
        constant(Type::f32, 0.0) + constant(Type::f32, -0.0),
        cast(Type::f32, constant(Type::f64, 1)) + cast(Type::f32, constant_integer(Type::i64, 1))}) {
    EXPECT_NE(e->arguments[0].get(), e->arguments[1].get()) << to_string(e);
  }
}

TEST(ExpressionWalk, EachReductionKeepsItsOwnSteps) {
  const auto total = [] { return reduce(Function::sum, {4}, [](const auto &s) { return x0({axis(0), s[0]}); }); };
  const Expression once = total() + total();
  EXPECT_NE(once->arguments[0].get(), once->arguments[1].get());
}

// An axis of extent 1, so that the index is inside of its operand however often it is added.
TEST(ExpressionWalk, AnIndexAddedToItselfHasFewPartsAndManyTerms) {
  Expression index = axis(0);
  for (int i = 0; i < 62; ++i) index = index + index;
  const Tensor x = Tensor::of<float>({1}, {7});
  EXPECT_EQ(evaluate(x0({index}), {x}, {1}, Order::row_major).item(), 7);
  EXPECT_EQ(bounds(index, {1}).greatest, 0);
}

TEST(ExpressionWalk, BoundsAreKeptFromOneIndexToTheNext) {
  IndexBounds of({5});
  Expression index = axis(0);
  for (int i = 0; i < 1000; ++i) {
    index = max(index, index % 5);
    EXPECT_EQ(of.of(index).greatest, 4);
  }
}

// What is used twice and reads a step is named where the step is known.
TEST(ExpressionWalk, SharedPartsOfAReductionsBodyAreReadBack) {
  const Expression y = reduce(Function::sum, {3}, [](const auto &s) {
    const Expression d = x0({axis(0), s[0]}) - exp(load(1, Type::f32, {axis(0)}));
    const Expression inner = reduce(Function::greatest, {2}, [&](const auto &t) {
      const Expression p = d * load(2, Type::f32, {t[0]});
      return p * p + exp(load(1, Type::f32, {axis(0)}));
    });
    return d * d + inner * inner;
  });
  const std::string text = to_string(y);
  const Expression read = parse_expression(text);
  EXPECT_EQ(to_string(read), text);
  const Tensor a = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}), b = Tensor::of<float>({2}, {0.5, -1}),
               c = Tensor::of<float>({2}, {2, -3});
  EXPECT_EQ(evaluate(read, {a, b, c}, {2}).reals(), evaluate(y, {a, b, c}, {2}).reals());
}

TEST(ExpressionWalk, NamesDoNotHideNesting) {
  std::string text = "t0 = exp(x0.f32[a0]); ";
  for (int i = 1; i < 100000; ++i) text += "t" + std::to_string(i) + " = exp(t" + std::to_string(i - 1) + "); ";
  EXPECT_THROW(parse_expression(text + "t99999"), std::invalid_argument);
}

}  // namespace
}  // namespace saltern::formula
