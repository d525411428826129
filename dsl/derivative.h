#pragma once
// Gradients of formulas, as formulas: reverse mode on stages.
//
//   dx = gradient({y}, {dy}, {x})[0]       sum over all elements of y of dy dy/dx
//
// Within a stage: partial derivatives of functions, one row each (partials.h). Between stages: the transpose of each load
// (transpose.h). The result is made of Values again, so second order is a gradient of a gradient.
//
//   sum         the adjoint is that of the result, at each step
//   greatest    goes to the first of equal elements, as PyTorch's max over a dimension does; least likewise
//   product     dy times the product of the other elements, those before it and those behind it: right where one is 0
//   scan        a scan the other way round
//   recurrence  a recurrence the other way round, and what no state waits for behind it
//   select      goes to the branch that was taken; nothing goes to the condition, to integers, to stop_gradient's operand
//
// An algorithm may have a gradient of its own: see with_gradient().

#include "dsl/value.h"

namespace saltern::formula {

// One value for each of `wanted`: zeros where nothing depends on it. A seed may be undefined: zeros.
Values gradient(const Values &outputs, const Values &seeds, const Values &wanted);
// The same where those that are wanted are taken for inputs: nothing goes through one of them to another.
Values gradient_at(const Values &outputs, const Values &seeds, const Values &wanted);

// Where f is linear, its transpose: what the gradient of an operand of these extents is, whatever the operand.
Value adjoint(const std::vector<Expression> &extents, const Value &dy, const std::function<Value(const Value &)> &f);

struct GradientRule {
  Values inputs;
  std::function<Values(const Value &dy)> of;  // one gradient for each input
};

// y, whose gradient with respect to each of the rule's inputs is what the rule makes of dy instead of what is derived.
Value with_gradient(const Value &y, GradientRule rule);

}  // namespace saltern::formula
