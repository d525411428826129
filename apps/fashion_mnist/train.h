#pragma once
// Training with checkpoints: stopped anywhere and resumed, it ends with the same bits as without the break.

#include <functional>
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
  bool resume = false;           // go on from the checkpoint, if there is one
  int64_t stop_after_steps = 0;  // write the checkpoint and stop after so many steps in all; 0: train to the end
};

struct TrainHistory {
  std::vector<double> step, loss;                 // a mean over some steps each
  std::vector<double> epoch_step, test_accuracy;  // after each epoch
  std::vector<double> unshown;                    // losses of the steps since the last mean
};

struct Trained {
  TrainHistory history;
  double test_accuracy = 0, seconds = 0;
  bool finished = true;
};

Trained train(Module &net, const FashionMnist &data, const TrainOptions &options);

// The part of the data that the net gets right.
double test_accuracy(Module &net, const Dataset &data);

}  // namespace saltern
