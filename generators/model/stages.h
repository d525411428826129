#pragma once
// Which steps of a model run at the same time. A kernel of one task leaves all threads but one idle. Where the graph has
// several chains of such steps that do not wait for each other, as the two directions of an LSTM are, each chain is a
// lane that one thread takes from its beginning to its end. All else runs step by step, every kernel on all threads.
//
// What a step waits for is what touches the same memory before it, in the order that the steps are given in.

#include <string>
#include <vector>

#include "generators/model/piece.h"

namespace saltern::generators {

struct Touch {
  std::string home;
  Piece piece;
  bool writes;
};

struct StageStep {
  std::vector<Touch> touches;
  bool one_task;        // its loops are too short to be shared out to threads
  double microseconds;  // as estimated
};

// Steps, by their numbers, in the order in which each lane runs them. Most stages are one lane of one step.
struct Stage {
  std::vector<std::vector<size_t>> lanes;
};

// All steps, stage after stage.
std::vector<Stage> stages_of(const std::vector<StageStep> &steps);

// Whether two pieces of the same memory may have an element in common; true where that is not plain.
bool may_meet(const Piece &a, const Piece &b);

}  // namespace saltern::generators
