#pragma once
// One candidate: a kernel, a call and knobs. It is built and timed in a child process; this is what both sides of that
// say to each other.

#include <string>
#include <vector>

#include "generators/call.h"
#include "runtime/kernels/instruction_set.h"

namespace saltern::autoscheduler {

struct Candidate {
  std::string kernel;
  generators::Call call;
  double flops;
  InstructionSet set;
  int threads;
  generators::Knobs knobs;
};

// In the child: builds the candidate, checks its outputs against the library kernel's, times it for about `seconds`,
// and returns the line to print. Fails where outputs differ.
std::string measured_text(const Candidate &candidate, double seconds);

struct CandidateTime {
  double milliseconds = 0, share_of_peak = 0;
  bool timed_out = false;
  std::string why_failed;  // empty where it did not fail
};

// In the parent: runs `program` (a path and first arguments) with the candidate as further arguments.
CandidateTime time_in_child(const std::vector<std::string> &program, const Candidate &candidate, double seconds,
                            double timeout);

}  // namespace saltern::autoscheduler
