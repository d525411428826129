#pragma once
// Training with checkpoints: stopped anywhere and resumed, it ends with the same bits as without the break, history
// included. Only with the same options and data: others than those that a checkpoint was made with are refused.

#include <string>
#include <vector>

#include "runtime/data/dataset.h"
#include "runtime/layers/module.h"

namespace saltern {

struct TrainOptions {
  int64_t epochs = 2, batch = 64;
  double rate = 0.03, momentum = 0.9;  // the rate falls linearly to zero
  uint64_t seed = 1;
  std::string checkpoint;        // written after every epoch, if given
  bool resume = false;           // go on from the checkpoint; where there is none, say so and begin
  int64_t stop_after_steps = 0;  // write the checkpoint and stop after so many steps in all; 0: train to the end
};

struct TrainHistory {
  std::vector<double> step, loss;                 // a mean over some steps each
  std::vector<double> epoch_step, test_accuracy;  // after each epoch
};

struct Trained {
  TrainHistory history;
  double test_accuracy = 0;
  double seconds = 0;      // of this run: a clock would make every checkpoint another
  int64_t resumed_at = 0;  // the step that this run began at
  bool finished = true;
};

// Fails, and leaves the checkpoint as it is, where the loss is no longer finite.
Trained train(Module &net, const FashionMnist &data, const TrainOptions &options);

// The part of the data that the net gets right.
double test_accuracy(Module &net, const Dataset &data);

}  // namespace saltern
