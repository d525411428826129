#pragma once
// What a net is trained on: arrays, MNIST's files, or a folder of pictures in folders of their classes.

#include "apps/saltern/picture_inputs.h"
#include "runtime/training/source_loader.h"

namespace saltern {

// What a batch of a net is.
struct BatchForm {
  Tensor x, labels;     // outlines
  int64_t classes = 0;  // labels are numbers of classes below it; 0: they are as what the net says is
};

struct TrainingData {
  Loader batches;
  int64_t samples = 0;
  std::vector<std::string> classes;  // of folders
  std::shared_ptr<Skipped> skipped;  // null: what cannot be read is an error
};

struct DataOptions {
  PictureOptions pictures;
  bool skip_damaged = false;
  bool whole_batches = false;  // samples that do not fill one are left for another epoch
  // What becomes of samples (runtime/transforms/transform.h), of pictures as they are in their files; none: they stay, and
  // pictures are made as large as is wanted.
  std::function<Tensor(const Tensor &x, int64_t epoch, int64_t sample)> transform = nullptr;
};

class DataFiles {
 public:
  // Which of MNIST's files: train-images-idx3-ubyte and train-labels-idx1-ubyte, or t10k-*.
  enum class Part { training, validation };

  // Reads arrays at once, and of pictures their names.
  explicit DataFiles(std::string path, Part part = Part::training);

  static bool are_pictures(const std::string &path, Part part = Part::training);
  bool are_pictures() const { return is_folder_of_pictures_; }

  // Of one x. Empty for pictures without transforms, which become what is wanted.
  Shape sample(const DataOptions &options) const;
  int64_t size() const;
  // What tells these data from others: of arrays all elements, of pictures their names.
  std::string hash() const;
  // Throws where the data do not fit.
  TrainingData batches(const BatchForm &form, BatchOptions batches, const DataOptions &options) const;

 private:
  Source pictures(const BatchForm &form, const DataOptions &options) const;
  Source rows(const BatchForm &form) const;

  std::string path_;
  bool is_folder_of_pictures_;
  Tensor x_, y_;
};

}  // namespace saltern
