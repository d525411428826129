#pragma once
// Stages that go through something in order, a scatter through its steps and a scan along its axis: an update whose other
// loops are independent of each other, and run in vectors and in parallel. No number of threads changes a bit.

#include <Halide.h>

#include "dsl/value.h"

namespace saltern::schedules {

struct InOrder {
  Halide::Func func;  // of the stage; what it is before its update has a schedule of its own
  Halide::Expr columns;
  int lanes;
  int block_vectors;  // in a block of columns: all steps of one come before those of the next
  int rows;           // that a scan along the innermost axis takes at once, since each element waits for the one before
};

void scatter_in_order(const formula::Stage &s, const InOrder &how);
void scan_in_order(const formula::Stage &s, const InOrder &how);

}  // namespace saltern::schedules
