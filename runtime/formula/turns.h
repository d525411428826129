#pragma once
// Recurrences (dsl/recurrence.h), turn by turn.

#include <functional>

#include "dsl/exact_formulas.h"
#include "runtime/tensor/tensor.h"

namespace saltern {

// All states after each turn; `turn` gives the next states.
using TurnFunction = std::function<std::vector<Tensor>(const std::vector<Tensor> &operands)>;
std::vector<Tensor> states_after_turns(const formula::ExactRecurrence &r, const std::vector<Tensor> &operands,
                                       const TurnFunction &turn);

}  // namespace saltern
