#include "autoscheduler/cost_model.h"

#include <algorithm>

namespace saltern::autoscheduler {

double expected_share(const generators::Knobs &knobs, int vector_registers) {
  const auto knob = [&](const char *name) {
    const auto it = knobs.find(name);
    return it == knobs.end() ? 0 : std::max(1, it->second);
  };
  const double rows = knob("rows"), columns = knob("column_vectors");
  if (rows == 0 || columns == 0) return 1;
  const double accumulators = rows * columns, needed = accumulators + columns + 1;
  // Each register too many is stored and loaded once a step, beside the loads of the operands.
  const double spilled = std::max(0.0, needed - vector_registers);
  const double memory = (rows + columns + 2 * spilled) / 2, arithmetic = accumulators / 2;
  const double latency = 4;  // cycles of one multiply-add, all that a step can be short of
  const double cycles = std::max({memory, arithmetic, latency}) + 0.1 * std::min(memory, arithmetic);
  return arithmetic / cycles;
}

}  // namespace saltern::autoscheduler
