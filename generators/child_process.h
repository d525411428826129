#pragma once
// Other programs, run as children with a time-out. A candidate schedule may crash, hang or eat memory while it is compiled
// or run: that must cost the tuner one candidate and nothing else.

#include <cstdint>
#include <string>
#include <vector>

namespace saltern::generators {

struct Outcome {
  bool good = false;   // ended by itself with exit code 0
  std::string output;  // what it wrote, standard output and error mixed; the first megabyte
  bool timed_out = false;
  std::string why;  // where it is not good: "timed out after 2 s", "signal 11", "exit code 3"
};

constexpr double no_timeout = 1e9;

// `command` is a program, found as the shell finds it, and its arguments. It runs in `folder`, where it keeps its temporary
// files, too: where all are killed, they go with it; unless told, where this program runs. After `timeout` seconds it is
// killed, by its id.
Outcome run_child(const std::vector<std::string> &command, double timeout, const std::string &folder = "");

// In the child: from now on it gets at most `bytes` of memory, and std::bad_alloc beyond.
void limit_own_memory(uint64_t bytes);
// Half of the machine's memory: what a candidate may have.
uint64_t memory_for_a_candidate();

}  // namespace saltern::generators
