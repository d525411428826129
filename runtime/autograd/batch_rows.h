#pragma once
// Tensors of one shape, parts of others along their first dimension or whole, as one tensor with a first dimension more:
// how operands of a batch come together (batching.h).

#include "runtime/autograd/variable.h"

namespace saltern {

struct BatchRow {
  static constexpr int64_t whole = -1;
  Variable of;
  int64_t row = whole;
};

// (n, shape of a row). The same Variable where rows are all of one, in its order.
Variable batch_of(const std::vector<BatchRow> &rows);

}  // namespace saltern
