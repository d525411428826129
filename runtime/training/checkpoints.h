#pragma once
// A folder of checkpoints: step-000123.safetensors, the last few of them, and best.safetensors.
//
// Each is written beside its name, synced and renamed (runtime/files/file.h): whenever the process ends, the last that was
// written is whole. Where the disk is full or the folder cannot be written, an Error names the folder, and what was there
// stays.

#include <string>

#include "runtime/tensor/checkpoint.h"
#include "runtime/training/callback.h"

namespace saltern {

struct CheckpointOptions {
  std::string folder;       // empty: none are written
  int64_t keep = 3;         // the last so many stay
  int64_t every_steps = 0;  // beside those at the end of every epoch; 0: only these
  std::string best = {};    // a number of the logs, such as val_loss: where it is best, best.safetensors is written
  bool resume = false;      // go on from the last one; where there is none, begin
};

class Checkpoints {
 public:
  // Makes the folder, and throws where nothing can be written to it: now, and not after an epoch.
  explicit Checkpoints(CheckpointOptions options);

  const CheckpointOptions &options() const { return options_; }
  std::string file(int64_t step) const;
  std::string best_file() const;
  // The path of the last; empty where there is none.
  std::string last() const;

  // Fails, and leaves the others as they are, where a value is not finite: nobody could go on from it.
  void save(int64_t step, const Checkpoint &checkpoint) const;
  void save_best(const Checkpoint &checkpoint) const;

 private:
  std::vector<std::pair<int64_t, std::string>> all() const;  // by step
  void write(const std::string &path, const Checkpoint &checkpoint) const;

  CheckpointOptions options_;
};

}  // namespace saltern
