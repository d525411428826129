#include "runtime/autograd/check_gradients.h"

#include <gtest/gtest.h>

#include "algorithms/normalisation.h"
#include "dsl/derivative.h"
#include "runtime/operations.h"
#include "tests/errors.h"

namespace saltern {
namespace {

const Operation prelu("checked_prelu", [](Value x, Value slope) { return where(x > 0, x, x * slope); });
const Operation group_norm("checked_group_norm", [](Value x, Value scale, Value shift) {
  return algorithms::group_norm(x, scale, shift, 2, formula::constant_value(x.type(), 1e-5));
});
const Operation wrong("checked_wrong", [](Value x, Value y) {
  return with_gradient(x * x * y, {{x, y}, [x, y](const Value &d) { return Values{d * x * y, d * x * x}; }});
});
const Operation wrong_twice("checked_wrong_twice", [](Value x) {
  return with_gradient(exp(x), {{x}, [x](const Value &d) { return Values{d * exp(stop_gradient(x))}; }});
});
const Operation scaled("checked_scaled", [](const Values &in, const Attributes &a) -> Values {
  return {in.at(0) * in[0] * a.real("by")};
});

TEST(CheckGradients, AnActivationWithAParameterIsGood) { check_gradients(prelu, {{2, 3}, {3}}); }
TEST(CheckGradients, GroupNormIsGood) { check_gradients(group_norm, {{2, 4, 5}, {4}, {4}}); }
TEST(CheckGradients, AttributesAreGiven) { check_gradients(scaled, {{4}}, {{{"by", 3.0}}}); }

TEST(CheckGradients, AWrongOneIsNamed) {
  const std::string error = error_of([] { check_gradients(wrong, {{3}, {3}}); });
  EXPECT_TRUE(contains(error, "'checked_wrong'"));
  EXPECT_TRUE(contains(error, "order 1 with respect to input 0"));
}

TEST(CheckGradients, AWrongSecondOrderIsNamed) {
  EXPECT_TRUE(contains(error_of([] { check_gradients(wrong_twice, {{3}}); }), "order 2 with respect to input 0"));
  GradientCheckOptions first;
  first.orders = 1;
  check_gradients(wrong_twice, {{3}}, first);
}

TEST(CheckGradients, WhatIsNoFormulaIsRefused) {
  EXPECT_TRUE(contains(error_of([] { check_gradients(*find_operation("concat"), {{3}}); }), "'concat' is no formula"));
}

}  // namespace
}  // namespace saltern
