#pragma once
// The gradient of a table of which few rows were read: those rows alone. As a Variable it has the table's shape, and whoever
// asks for its value() gets all rows; sparse() is for those who need not.

#include "runtime/autograd/variable.h"

namespace saltern {

struct SparseRows {
  std::vector<int64_t> rows;  // of the table; one may stand there several times, unless they are coalesced
  Tensor values;              // (rows, a row's shape)
  bool is_coalesced = false;
};

// A part of a gradient dy that a row of the table gets.
struct RowShare {
  int64_t row, from;  // from: a row of dy
  double factor = 1;
};
Variable sparse_gradient(const Shape &table, const std::vector<RowShare> &shares, const Tensor &dy);

Variable of_sparse(const Shape &table, SparseRows rows);
// Each row once, in ascending order, with the sum of its values in theirs.
SparseRows coalesced(const SparseRows &rows);
// The sum of two for one table.
SparseRows joined(const SparseRows &a, const SparseRows &b);
Tensor dense(const Shape &table, const SparseRows &rows);

}  // namespace saltern
