// A child that hangs, crashes or fails costs its own candidate and nothing else.

#include "generators/child_process.h"

#include <gtest/gtest.h>

#include <chrono>

#include "autoscheduler/candidate.h"
#include "tests/errors.h"

namespace saltern::autoscheduler {
namespace {

using generators::limit_own_memory;
using generators::memory_for_a_candidate;
using generators::Outcome;
using generators::run_child;

Outcome shell(const std::string &script, double timeout = 20) { return run_child({"/bin/sh", "-c", script}, timeout); }

TEST(Runner, ReturnsWhatTheChildSaid) {
  const Outcome o = shell("echo one; echo two >&2");
  EXPECT_TRUE(o.good);
  EXPECT_EQ(o.output, "one\ntwo\n");
}

TEST(Runner, AnExitCodeIsAFailure) {
  const Outcome o = shell("exit 3");
  EXPECT_FALSE(o.good);
  EXPECT_EQ(o.why, "exit code 3");
}

TEST(Runner, ACrashIsAFailureWithItsSignal) {
  const Outcome o = shell("kill -SEGV $$");
  EXPECT_FALSE(o.good);
  EXPECT_EQ(o.why, "signal 11");
}

TEST(Runner, AChildThatHangsIsKilledInTime) {
  for (const char *script : {"exec sleep 60", "exec >&- 2>&-; exec sleep 60"}) {
    const auto begin = std::chrono::steady_clock::now();
    const Outcome o = shell(script, 0.2);
    EXPECT_FALSE(o.good);
    EXPECT_NE(o.why.find("timed out"), std::string::npos) << script;
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 10) << script;
  }
}

TEST(Runner, EndlessOutputIsBounded) {
  const Outcome o = shell("exec yes", 0.5);
  EXPECT_FALSE(o.good);
  EXPECT_LT(o.output.size(), 2u << 20);
}

TEST(Runner, AProgramThatIsNotThereIsAnErrorThatNamesIt) {
  expect_error([] { run_child({"/no/such/program"}, 1); }, {"/no/such/program"});
}

const Candidate candidate = {"dense", {{4, 4}}, 1, InstructionSet::sse41, 1, {{"rows", 2}}};

CandidateTime time_with(const std::string &script) {
  return time_in_child({"/bin/sh", "-c", script, "fake"}, candidate, 0.1, 5);
}

TEST(Candidate, TheResultIsTheLastLine) {
  const CandidateTime t = time_with(R"(echo noise; echo '{"milliseconds": 2.5, "share_of_peak": 0.75}')");
  EXPECT_EQ(t.why_failed, "");
  EXPECT_EQ(t.milliseconds, 2.5);
  EXPECT_EQ(t.share_of_peak, 0.75);
}

TEST(Candidate, NoResultIsAFailure) {
  EXPECT_NE(time_with("echo noise").why_failed, "");
  EXPECT_NE(time_with("true").why_failed, "");
  EXPECT_NE(time_with("kill -ABRT $$").why_failed, "");
}

// JSON has no NaN and no infinity: a measurement that went wrong says null.
TEST(Candidate, AResultThatIsNoNumberIsAFailure) {
  for (const char *result : {R"({"milliseconds": null, "share_of_peak": 0.5})", R"({"milliseconds": 1})",
                             R"({"milliseconds": 1, "share_of_peak": "much"})", "[1, 2]", "null"}) {
    const CandidateTime t = time_with(std::string("echo '") + result + "'");
    EXPECT_TRUE(contains(t.why_failed, result));
  }
}

// In a process of its own, which never has its memory back.
TEST(RunnerDeathTest, AChildGetsNoMoreMemoryThanItsLimit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        limit_own_memory(uint64_t{256} << 20);
        const std::vector<char> little(uint64_t{16} << 20, 1);
        try {
          const std::vector<char> much(uint64_t{512} << 20, 1);
        } catch (const std::bad_alloc &) {
          std::exit(little[0]);
        }
        std::exit(0);
      },
      testing::ExitedWithCode(1), "");
}

TEST(Runner, ACandidateGetsAPartOfTheMachinesMemory) { EXPECT_GT(memory_for_a_candidate(), uint64_t{1} << 28); }

}  // namespace
}  // namespace saltern::autoscheduler
