// Casts to numbers of 8 bits and less, as Halide expressions.

#include "generators/small_float_code.h"

#include <gtest/gtest.h>

namespace saltern::generators {
namespace {

// Choices, as Halide walks them: what is read twice counts twice.
class Walk : public Halide::Internal::IRVisitor {
 public:
  int choices = 0;

 private:
  using IRVisitor::visit;
  void visit(const Halide::Internal::Select *select) override {
    ++choices;
    IRVisitor::visit(select);
  }
};

// A result is rounded where it is made and once more where it is stored: a search of which each turn is walked as often
// as the next one reads it, inside of another one, took all memory.
TEST(SmallFloatCode, EachTurnOfTheSearchIsWalkedOnce) {
  for (Type type : {Type::f8e5m2, Type::f8e4m3fn, Type::f4e2m1}) {
    Walk walk;
    small_code_of_f32(type, Halide::Var("x") * 0.5f, /*saturate=*/false).accept(&walk);
    EXPECT_LE(walk.choices, 10) << facts(type).name;
  }
}

}  // namespace
}  // namespace saltern::generators
