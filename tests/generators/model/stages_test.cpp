// Steps that run at the same time: chains that do not wait for each other, and nothing else.

#include "generators/model/stages.h"

#include <gtest/gtest.h>

#include "generators/model/memory_plan.h"
#include "tests/compiled_graph.h"

namespace saltern::generators {
namespace {

constexpr double quick = 1, slow = 20;

struct Model {
  std::vector<StageStep> steps;

  Model &step(const std::vector<std::string> &reads, const std::string &writes, double microseconds = slow,
              bool one_task = true) {
    StageStep s = {{}, one_task, microseconds};
    for (const std::string &home : reads) s.touches.push_back({home, Piece::dense(0, 8), false});
    s.touches.push_back({writes, Piece::dense(0, 8), true});
    steps.push_back(s);
    return *this;
  }
};

using Lanes = std::vector<std::vector<size_t>>;

std::vector<Lanes> lanes(const Model &m) {
  std::vector<Lanes> all;
  for (const Stage &s : stages_of(m.steps)) all.push_back(s.lanes);
  return all;
}

TEST(Stages, ChainsThatDoNotWaitForEachOtherAreLanes) {
  const Model m = Model().step({"x"}, "a").step({"a"}, "b", quick).step({"b"}, "c").step({"x"}, "d").step({"d"}, "e");
  EXPECT_EQ(lanes(m), (std::vector<Lanes>{{{0, 1, 2}, {3, 4}}}));
}

TEST(Stages, AStepOfManyTasksRunsAlone) {
  const Model m = Model().step({"x"}, "a", slow, false).step({"x"}, "b", slow, false).step({"a"}, "c").step({"b"}, "d");
  EXPECT_EQ(lanes(m), (std::vector<Lanes>{{{0}}, {{1}}, {{2}, {3}}}));
}

// The other direction of an LSTM: its product with all inputs comes behind the whole first direction.
TEST(Stages, WhatALaneWaitsForComesFirst) {
  const Model m = Model()
                      .step({"x"}, "p", slow, false)
                      .step({"p"}, "a")
                      .step({"a"}, "b")
                      .step({"x"}, "q", slow, false)
                      .step({"q"}, "c")
                      .step({"b", "c"}, "y", slow, false);
  EXPECT_EQ(lanes(m), (std::vector<Lanes>{{{0}}, {{3}}, {{1, 2}, {4}}, {{5}}}));
}

TEST(Stages, TheOrderStaysWhereNothingIsWorthIt) {
  const Model m =
      Model().step({"x"}, "a", quick).step({"x"}, "b", quick).step({"x"}, "c", slow, false).step({"a"}, "d");
  EXPECT_EQ(lanes(m), (std::vector<Lanes>{{{0}}, {{1}}, {{2}}, {{3}}}));
}

// A kernel that writes over its operand waits for all who read that.
TEST(Stages, WritersWaitForReaders) {
  const Model m = Model().step({"a"}, "b").step({"a"}, "a").step({"x"}, "c");
  EXPECT_EQ(lanes(m), (std::vector<Lanes>{{{0, 1}, {2}}}));
}

TEST(Stages, PartsOfOneMemoryMeetOnlyWhereTheyShareAnElement) {
  const Piece left = {0, 40, 4, 10}, right = {4, 60, 6, 10}, middle = {3, 20, 2, 10};
  EXPECT_FALSE(may_meet(left, right));
  EXPECT_TRUE(may_meet(left, middle));
  EXPECT_TRUE(may_meet(right, middle));
  EXPECT_TRUE(may_meet(left, Piece::dense(30, 5)));
  EXPECT_FALSE(may_meet(Piece::dense(0, 8), Piece::dense(8, 8)));
}

// A join of very many parts is not compared part by part; what reads it still waits for all.
TEST(Stages, ManyPartsOfOneMemoryAreQuick) {
  constexpr int parts = 100000;
  std::vector<StageStep> steps;
  for (int p = 0; p < parts; ++p) steps.push_back({{{"y", Piece::dense(8 * p, 8), true}}, true, 0.1});
  steps.push_back({{{"y", Piece::dense(0, 8 * parts), false}, {"z", Piece::dense(0, 8), true}}, true, slow});
  size_t last = 0;
  for (const Stage &s : stages_of(steps))
    for (const auto &lane : s.lanes) last = lane.back();
  EXPECT_EQ(last, static_cast<size_t>(parts));
}

TEST(MemoryOfLanes, IsSharedInALaneAndNeverBetweenTwo) {
  const std::vector<Lifetime> lives = {{"a", 64, 0, 1, 0, 0}, {"b", 64, 2, 3, 0, 0}, {"c", 64, 4, 5, 0, 1}};
  const MemoryPlan plan = plan_memory(lives);
  EXPECT_EQ(plan.offsets[0], plan.offsets[1]);
  EXPECT_NE(plan.offsets[0], plan.offsets[2]);
  EXPECT_EQ(plan.bytes, 128);
}

// Two chains of small products that end in one value: the same bits on any number of threads.
TEST(CompiledLanes, GiveWhatStepsGive) {
  GraphBuilder b({4, 128});
  std::vector<std::string> ends;
  for (int chain = 0; chain < 3; ++chain) {
    std::string h = "x";
    for (int step = 0; step < 10; ++step) h = b.apply("tanh", {b.apply("add", {b.dense(h, 128), "x"})});
    ends.push_back(h);
  }
  const Graph g = b.finish({b.apply("multiply", {b.apply("add", {ends[0], ends[1]}), ends[2]}), ends[1]});
  EXPECT_EQ(most_lanes(g), 3);
  expect_right_when_compiled(g);
}

}  // namespace
}  // namespace saltern::generators
