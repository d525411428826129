#pragma once
// `saltern bench MODEL`: how long one run of a whole model takes.

#include <string>

#include "apps/saltern/compiled_run.h"
#include "apps/saltern/machine_options.h"
#include "apps/saltern/model_options.h"
#include "apps/saltern/training_options.h"

namespace saltern {

struct BenchModelOptions {
  ModelOptions model;
  MachineOptions machine;
  DeviceOption device;
  ConvolutionOption convolutions;
  double seconds = 2;
  bool compiled = false, layers = false, json = false;
  std::string trace;  // a file for it
  bool train = false, tape = false, bursts = false;
  TrainingOptions training;
};

int bench_model(const BenchModelOptions &options);
// `saltern bench MODEL --train`: how long one training step takes.
int bench_training(const BenchModelOptions &options);

}  // namespace saltern
