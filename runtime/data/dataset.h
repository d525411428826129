#pragma once
// Labelled images in memory, and where Fashion-MNIST is found.

#include <array>
#include <string>
#include <string_view>

#include "runtime/tensor/tensor.h"

namespace saltern {

struct Dataset {
  Tensor images;  // u8 (count, channels, height, width), channels last
  Tensor labels;  // i32 (count)

  int64_t size() const { return labels.extent(0); }
};

// From an IDX file of images (count, height, width) and one of labels (count), which must be below `classes`. At least one image.
Dataset load_idx_dataset(const std::string &images, const std::string &labels, int classes);

struct FashionMnist {
  static constexpr std::array<std::string_view, 10> class_names = {
      "T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"};
  static constexpr std::string_view debian_folder = "/usr/share/datasets/fashion-mnist";

  Dataset train, test;
  std::string folder;
};

// The first of the folders that holds all four files: Debian's package dataset-fashion-mnist, then `sample`, the part
// of the data that ships with the project (apps/fashion_mnist/sample).
std::string find_fashion_mnist(const std::string &sample);
// From the four IDX files as they are distributed, gzipped or plain.
FashionMnist load_fashion_mnist(const std::string &folder);

}  // namespace saltern
