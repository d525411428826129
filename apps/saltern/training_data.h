#pragma once
// What a model is trained on: arrays, MNIST's files, or a folder of pictures in folders of their classes.

#include "apps/saltern/picture_inputs.h"
#include "apps/saltern/training_model.h"
#include "runtime/training/source_loader.h"

namespace saltern {

struct TrainingData {
  Loader batches;  // all of one size: samples that do not fill one are left for another epoch
  int64_t samples = 0;
  std::vector<std::string> classes;  // of folders
  std::shared_ptr<Skipped> skipped;  // null: what cannot be read is an error
};

// Throws where the data do not fit the model.
TrainingData training_data(const TrainingModel &model, const std::string &path, const BatchOptions &batches,
                           const PictureOptions &pictures, bool skip_damaged);

}  // namespace saltern
