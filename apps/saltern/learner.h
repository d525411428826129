#pragma once
// What `saltern train` trains: a model of a file, or layers that are written down.

#include <memory>

#include "apps/saltern/model_options.h"
#include "apps/saltern/training_data.h"
#include "apps/saltern/training_options.h"
#include "runtime/layers/module.h"

namespace saltern {

struct LearnerOptions {
  ModelOptions model;
  std::vector<std::string> layers;  // Linear(784, 10); none: the model's file
  std::vector<std::string> freeze;  // names of parameters, with * and ?
  int64_t head = 0;                 // a new last layer for so many classes
  std::vector<int64_t> input;       // a sample's shape, where data leave that open

  void add_to(CLI::App &app);
};

class Learner {
 public:
  virtual ~Learner() = default;

  // Of a batch it gives the scores that the loss is of. While nothing trains, batches may be smaller.
  virtual Module &net() = 0;
  const BatchForm &form() const { return form_; }
  // Whether training takes batches of one size only.
  virtual bool takes_whole_batches() const = 0;
  // How many tensors of parameters stay as they are.
  int64_t frozen() const { return frozen_; }
  // The model with what it learned: ONNX with the weights beside it as safetensors, or a saved net; gives the files' names.
  virtual std::vector<std::string> write(const std::string &path) = 0;

 protected:
  BatchForm form_;
  int64_t frozen_ = 0;
};

// Throws BadInput or Unsupported. `sample` is the shape of one of the data, empty where they leave it open; `seed` is that of new
// parameters.
std::unique_ptr<Learner> learner_of(const LearnerOptions &options, const TrainingOptions &training, const Shape &sample,
                                    uint64_t seed);
// Before anything is computed: throws BadInput where a file of this name cannot be meant, for a model of a file or for layers.
void expect_writable_model(const std::string &path, bool of_a_file);

}  // namespace saltern
