#pragma once
// Tuning: searches the knobs of one kernel for one call, each candidate in a child process, and keeps what it learns
// in the database. A candidate that the database knows is not measured again, so an interrupted run goes on where it
// stopped, and a second equal run does no work. One that timed out is tried again when it is given more time.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "autoscheduler/database.h"
#include "runtime/kernels/instruction_set.h"

namespace saltern::autoscheduler {

struct TuneOptions {
  std::string kernel;
  Call call;
  double flops = 0;
  InstructionSet set = instruction_set_in_use();
  int threads = 1;
  int trials = 64;                // candidates in all, those known from the database included
  double seconds = 0;             // stop after this time; 0: no limit
  double timeout = 30;            // for one candidate, compilation included
  double measure_seconds = 0.25;  // for one candidate
  uint64_t seed = 1;
  std::string database;
  std::vector<std::string> program;  // measures one candidate: see candidate.h
};

struct TuneProgress {
  int done = 0, of = 0, failed = 0, reused = 0;
  std::optional<Result> own, best;  // of the schedule's own knobs; of the best so far
  std::string last_failure;
};

// Calls `progress` before the first candidate and after every one. Fails where the kernel has no knobs.
TuneProgress tune(const TuneOptions &options, const std::function<void(const TuneProgress &)> &progress);

}  // namespace saltern::autoscheduler
