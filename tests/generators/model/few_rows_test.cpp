// Dense layers of few rows and computed weights (schedules/patterns/few_rows.h): what the library's kernels give, on every CPU
// target that runs here, with the same bits for any number of threads.

#include "schedules/patterns/few_rows.h"

#include <gtest/gtest.h>

#include "tests/compiled_graph.h"

namespace saltern {
namespace {

// With a bias or without, alone or with more that is added to it.
Graph layer(int64_t rows, int64_t steps, int64_t columns, bool biased, bool followed) {
  Graph g;
  g.add_input("x", {rows, steps});
  g.add_input("w", {columns, steps});
  if (biased) g.add_input("b", {columns});
  const std::vector<std::string> inputs =
      biased ? std::vector<std::string>{"x", "w", "b"} : std::vector<std::string>{"x", "w"};
  g.outputs = {g.add_node("dense", inputs, "y", {rows, columns})};
  if (!followed) return g;
  g.add_input("more", {rows, columns});
  g.outputs = {g.add_node("add", {"y", "more"}, "z", {rows, columns})};
  return g;
}

TEST(FewRows, GiveWhatLayersAre) {
  std::vector<std::string> targets = {"sse41"};
  if (generators::best_target_here() != "sse41") targets.push_back(generators::best_target_here());
  for (const auto &[rows, steps, columns] :
       std::vector<std::array<int64_t, 3>>{{4, 64, 8}, {16, 64, 40}, {32, 97, 24}, {48, 128, 8}, {33, 64, 16}})
    for (const bool more : {false, true})
      for (const std::string &target : targets) {
        SCOPED_TRACE(std::to_string(rows) + " rows, " + target);
        expect_right_when_compiled(layer(rows, steps, columns, more, more), {target});
      }
}

TEST(FewRows, AreWholeVectorsThatFitTheRegisters) {
  Halide::Func y("y");
  y(Halide::Var("column"), Halide::Var("row")) = 0.0f;
  const auto fits = [&](int target, int64_t rows, int64_t columns, int64_t steps) {
    const Machine m = Machine::of(Halide::Target(cpu_targets().at(static_cast<size_t>(target)).halide));
    return schedules::FewRows{y, y, y, rows, columns, steps}.fits(m);
  };
  EXPECT_TRUE(fits(0, 32, 1024, 256));
  EXPECT_TRUE(fits(0, 48, 1024, 256));
  EXPECT_FALSE(fits(0, 64, 1024, 256));  // more than the registers hold
  EXPECT_FALSE(fits(0, 33, 1024, 256));
  EXPECT_FALSE(fits(0, 32, 1023, 256));
  EXPECT_FALSE(fits(0, 0, 1024, 256));  // known at run time only
  EXPECT_TRUE(fits(1, 8, 1024, 256));
  EXPECT_FALSE(fits(1, 16, 1024, 256));
}

}  // namespace
}  // namespace saltern
