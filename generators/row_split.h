#pragma once
// Which reductions run as vectors of partial results along one of their steps: those of rows.

#include "dsl/value.h"
#include "generators/reduction_code.h"
#include "schedules/machine.h"

namespace saltern::generators {

RowSplit row_split(const formula::Stage &reduction, const Machine &m);

}  // namespace saltern::generators
