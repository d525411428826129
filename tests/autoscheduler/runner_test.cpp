// A child that hangs, crashes or fails costs its own candidate and nothing else.

#include "autoscheduler/runner.h"

#include <gtest/gtest.h>

#include <chrono>

#include "autoscheduler/candidate.h"
#include "runtime/error.h"

namespace saltern::autoscheduler {
namespace {

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
  try {
    run_child({"/no/such/program"}, 1);
    ADD_FAILURE();
  } catch (const Error &e) {
    EXPECT_NE(std::string(e.what()).find("/no/such/program"), std::string::npos);
  }
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

}  // namespace
}  // namespace saltern::autoscheduler
