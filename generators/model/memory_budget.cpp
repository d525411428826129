#include "generators/model/memory_budget.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "generators/model/passes/passes.h"
#include "generators/model/planned_model.h"
#include "generators/model/recomputation.h"

namespace saltern::generators {

namespace {

// Estimates are off by what kernels need beside their operands, and by how values fit in between each other.
constexpr int most_tries = 6;

// Never less than it is: who gives it back as a budget is to be served.
std::string in_units(int64_t bytes) {
  char text[32];
  if (bytes < 1000000)
    std::snprintf(text, sizeof text, "%.0f KB", std::ceil(static_cast<double>(bytes) / 1e3));
  else
    std::snprintf(text, sizeof text, "%.1f MB", std::ceil(static_cast<double>(bytes) / 1e5) / 10);
  return text;
}

}  // namespace

int64_t workspace_bytes(const Graph &prepared) { return planned({prepared}, true).plan.workspace_bytes; }

Graph within_memory(const Graph &step, int64_t bytes, int64_t others) {
  const int64_t plain = workspace_bytes(step);
  if (plain <= bytes) return step;
  const std::string turn = step.asked().at(0);
  const Recomputation recomputation(step, turn);
  const auto estimated = [&](const Recomputation::Choice &choice) {
    return static_cast<double>(recomputation.of(choice).bytes);
  };
  const Recomputation::Choice none(recomputation.units().size(), false);
  // Lower estimates are sure to fit, and take longer: the one that is aimed at goes up as far as it can.
  double fits = 0, does_not = estimated(none), aim = does_not * static_cast<double>(bytes) / static_cast<double>(plain);
  int64_t least = plain;
  std::optional<Graph> best;
  double best_time = 0;
  const auto tried = [&](double estimate) {
    const Recomputation::Choice choice = recomputation.cheapest(static_cast<int64_t>(estimate));
    Graph made = with_recomputed(step, recomputation.values(choice), turn);
    const int64_t needed = workspace_bytes(made);
    const double time = recomputation.of(choice).microseconds;
    least = std::min(least, needed);
    if (needed <= bytes && (!best || time < best_time)) best = std::move(made), best_time = time;
    return static_cast<double>(needed);
  };
  for (int i = 0; i < most_tries; ++i) {
    const double needed = tried(aim);
    (needed <= static_cast<double>(bytes) ? fits : does_not) = aim;
    aim = fits > 0 ? (fits + does_not) / 2 : 0.98 * aim * static_cast<double>(bytes) / needed;
  }
  if (!best) tried(0);
  if (best) return *std::move(best);
  fail("a step in ", in_units(bytes + others), " is not possible: with all that can be made again it takes ",
       in_units(least + others), ", of which ", in_units(others), " are parameters, state, inputs and kernels' own");
}

}  // namespace saltern::generators
