// Tuning measures every candidate once in its life, survives those that fail, and finds the best.

#include "autoscheduler/tune.h"

#include <gtest/gtest.h>

#include <fstream>

#include "generators/workload.h"
#include "tests/scratch_folder.h"

namespace saltern::autoscheduler {
namespace {

const Call small_dense = {{16, 8}, {16, 16}, std::vector<int>{16}};

// A stand-in for the program that measures: notes each call in a file, and likes many rows except 5, where it crashes.
struct Stage {
  const ScratchFolder folder;
  const std::string database = folder.file("tuning.sqlite"), log = folder.file("log");
  TuneOptions options;

  Stage() {
    options.kernel = "dense";
    options.call = small_dense;
    options.flops = 1;
    options.set = InstructionSet::sse41;
    options.database = database;
    options.program = {"/bin/sh", "-c", "echo run >> " + log + R"(
                       rows=$(echo "$*" | sed 's/.*"rows":\([0-9]*\).*/\1/')
                       if [ "$rows" = 5 ]; then kill -SEGV $$; fi
                       echo "{\"milliseconds\": 1, \"share_of_peak\": 0.0$rows}")",
                       "fake"};
  }

  TuneProgress run(int trials) {
    options.trials = trials;
    return tune(options, [](const TuneProgress &) {});
  }
  int runs() const {
    std::ifstream in(log);
    int n = 0;
    for (std::string line; std::getline(in, line);) ++n;
    return n;
  }
};

TEST(Tune, MeasuresEachCandidateOnceInItsLife) {
  Stage stage;
  const TuneProgress first = stage.run(10);
  EXPECT_EQ(first.done, 10);
  EXPECT_EQ(first.reused, 0);
  EXPECT_EQ(stage.runs(), 10);
  const TuneProgress again = stage.run(10);
  EXPECT_EQ(again.reused, 10);
  EXPECT_EQ(stage.runs(), 10);
  EXPECT_EQ(again.best->knobs, first.best->knobs);
  const TuneProgress more = stage.run(14);
  EXPECT_EQ(more.reused, 10);
  EXPECT_EQ(stage.runs(), 14);
}

TEST(Tune, FindsTheBestOfTheWholeSpaceAndSurvivesCrashes) {
  Stage stage;
  const TuneProgress all = stage.run(1000000);
  EXPECT_EQ(all.done, all.of);
  EXPECT_GT(all.failed, 0);
  ASSERT_TRUE(all.best);
  EXPECT_EQ(all.best->knobs.at("rows"), 8);  // 0.08; ten rows are 0.010
  EXPECT_EQ(Database(stage.database).best("dense", small_dense, "sse41")->share_of_peak, all.best->share_of_peak);
}

TEST(Tune, ACandidateThatTimedOutIsTriedAgainWithMoreTimeOnly) {
  Stage stage;
  stage.options.program = {"/bin/sh", "-c", "echo run >> " + stage.log + R"(
                           sleep 0.4; echo '{"milliseconds": 1, "share_of_peak": 0.5}')",
                           "fake"};
  stage.options.timeout = 0.05;
  EXPECT_EQ(stage.run(1).failed, 1);
  EXPECT_EQ(stage.run(1).reused, 1);
  EXPECT_EQ(stage.runs(), 1);
  stage.options.timeout = 20;
  const TuneProgress again = stage.run(1);
  EXPECT_EQ(again.reused, 0);
  EXPECT_EQ(again.failed, 0);
  EXPECT_EQ(stage.runs(), 2);
  EXPECT_EQ(stage.run(1).reused, 1);
}

TEST(Tune, ACandidateThatCrashedIsNotTriedAgain) {
  Stage stage;
  stage.options.program = {"/bin/sh", "-c", "echo run >> " + stage.log + "; kill -SEGV $$", "fake"};
  EXPECT_EQ(stage.run(1).failed, 1);
  stage.options.timeout *= 10;
  EXPECT_EQ(stage.run(1).reused, 1);
  EXPECT_EQ(stage.runs(), 1);
}

TEST(Tune, StopsWhenItsTimeIsOver) {
  Stage stage;
  stage.options.seconds = 1e-9;
  EXPECT_EQ(stage.run(1000).done, 0);
}

TEST(Knobs, ReachTheScheduleAndLeaveTheResultRight) {
  generators::Workload work("dense", {{33, 19}, {33, 21}, std::vector<int>{21}});
  for (const Knobs &knobs : {Knobs{{"rows", 2}, {"column_vectors", 1}}, Knobs{{"rows", 10}, {"column_vectors", 3}}}) {
    const generators::ExactKernel kernel("dense", {{33, 19}, {33, 21}, std::vector<int>{21}}, InstructionSet::sse41,
                                         knobs);
    EXPECT_LE(work.difference(kernel), 1e-5);
  }
}

}  // namespace
}  // namespace saltern::autoscheduler
