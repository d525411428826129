#pragma once
// Pictures in folders that are named after their class:
//
//   animals/cat/1.png  animals/cat/2.jpg  animals/dog/7.jpeg
//
//   const PictureFolder animals("animals");   // classes cat and dog, in the order of their names
//   const Loader train = batches_of(animals.source(), options);

#include <vector>

#include "runtime/data/png.h"
#include "runtime/data/source.h"

namespace saltern {

// f32 (channels, height, width) between 0 and 1 of a u8 picture (height, width, channels).
Tensor scaled_pixels(const Tensor &picture);
// And back: the picture of image i of f32 (n, channels, height, width). What is below 0 is black, and above 1 white.
Tensor as_picture(const Tensor &images, int64_t i = 0);

class PictureFolder {
 public:
  // Files that end in .png, .jpg or .jpeg, in whatever case, in the folders and below; others are left alone. They are only
  // listed here. Throws where there is no class, or none of its pictures.
  explicit PictureFolder(const std::string &folder);

  const std::vector<std::string> &classes() const { return classes_; }
  const std::vector<std::string> &files() const { return files_; }
  const std::vector<int32_t> &labels() const { return labels_; }

  // A sample is what `prepare` makes of a picture, and its class, i32 (). For batches all have to be of one shape.
  Source source(Channels channels = Channels::rgb,
                std::function<Tensor(const Tensor &picture)> prepare = scaled_pixels) const;

 private:
  std::vector<std::string> classes_, files_;
  std::vector<int32_t> labels_;
};

}  // namespace saltern
