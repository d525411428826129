#include "runtime/data/dataset.h"

#include <algorithm>
#include <filesystem>

#include "runtime/data/idx.h"

namespace saltern {

namespace {

constexpr const char *train_images = "train-images-idx3-ubyte";
constexpr const char *train_labels = "train-labels-idx1-ubyte";
constexpr const char *test_images = "t10k-images-idx3-ubyte";
constexpr const char *test_labels = "t10k-labels-idx1-ubyte";

// The file of that name in a folder, gzipped or, where there is no such file, plain.
std::string in_folder(const std::string &folder, const char *name) {
  const std::string plain = (std::filesystem::path(folder) / name).string(), gzipped = plain + ".gz";
  return std::filesystem::exists(plain) && !std::filesystem::exists(gzipped) ? plain : gzipped;
}

}  // namespace

Dataset load_idx_dataset(const std::string &images, const std::string &labels, int classes) {
  const Tensor pictures = read_idx(images), names = read_idx(labels);
  if (pictures.type() != Type::u8 || pictures.rank() != 3)
    fail(images, " holds ", facts(pictures.type()).name, to_string(pictures.shape()),
         "; images are u8 (count, height, width)");
  if (names.type() != Type::u8 || names.rank() != 1)
    fail(labels, " holds ", facts(names.type()).name, to_string(names.shape()), "; labels are u8 (count)");
  if (pictures.size() == 0) fail(images, " holds no images: u8", to_string(pictures.shape()));
  if (pictures.extent(0) != names.extent(0))
    fail(images, " holds ", pictures.extent(0), " images, but ", labels, " holds ", names.extent(0), " labels");

  Dataset d;
  // With one channel, channels last is the order that the file has already.
  d.images = pictures.reshaped({pictures.extent(0), 1, pictures.extent(1), pictures.extent(2)})
                 .in_layout(Layout::channels_last);
  d.labels = Tensor::empty({names.extent(0)}, Type::i32);
  for (int64_t i = 0; i < names.size(); ++i) {
    const int label = names.data<uint8_t>()[i];
    if (label >= classes) fail(labels, ": label ", label, " of image ", i, " is not below ", classes);
    d.labels.data<int32_t>()[i] = label;
  }
  return d;
}

std::string find_fashion_mnist(const std::string &sample) {
  for (const std::string &folder : {std::string(FashionMnist::debian_folder), sample}) {
    const auto has = [&](const char *name) { return std::filesystem::exists(in_folder(folder, name)); };
    if (has(train_images) && has(train_labels) && has(test_images) && has(test_labels)) return folder;
  }
  fail("Fashion-MNIST is neither in ", FashionMnist::debian_folder, " (Debian's package dataset-fashion-mnist) nor in ",
       sample);
}

FashionMnist load_fashion_mnist(const std::string &folder) {
  const auto file = [&](const char *name) { return in_folder(folder, name); };
  constexpr int classes = static_cast<int>(FashionMnist::class_names.size());
  FashionMnist f;
  f.train = load_idx_dataset(file(train_images), file(train_labels), classes);
  f.test = load_idx_dataset(file(test_images), file(test_labels), classes);
  f.folder = folder;
  return f;
}

}  // namespace saltern
