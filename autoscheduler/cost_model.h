#pragma once
// What a register tile should cost, before anything is measured: an order to try candidates in, not a time.
//
//   accumulators = rows x column_vectors, one register each, besides column_vectors loads and one broadcast
//   loads per multiply-add = (rows + column_vectors) / accumulators; two loads and two multiply-adds start in a cycle
//
// Knobs that it does not know change nothing.

#include "generators/call.h"

namespace saltern::autoscheduler {

// The share of peak to hope for, in (0, 1]: less loads are better, spills are bad, and fewer than eight accumulators
// do not hide the latency of a multiply-add.
double expected_share(const generators::Knobs &knobs, int vector_registers);

}  // namespace saltern::autoscheduler
