#include "runtime/data/picture_folder.h"

#include <algorithm>
#include <filesystem>

#include "runtime/data/jpeg.h"

namespace saltern {

namespace fs = std::filesystem;

namespace {

bool is_picture(const fs::path &path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

std::vector<std::string> pictures_below(const fs::path &folder) {
  std::vector<std::string> found;
  for (const auto &entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && is_picture(entry.path())) found.push_back(entry.path().string());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

Tensor scaled_pixels(const Tensor &picture) {
  const int64_t height = picture.extent(0), width = picture.extent(1), channels = picture.extent(2);
  const Tensor image = Tensor::empty({channels, height, width});
  const uint8_t *from = picture.data<uint8_t>();
  float *to = image.data<float>();
  for (int64_t p = 0; p < height * width; ++p)
    for (int64_t c = 0; c < channels; ++c) to[c * height * width + p] = static_cast<float>(*from++) / 255.0F;
  return image;
}

Tensor as_picture(const Tensor &images, int64_t i) {
  if (images.rank() != 4) fail("a picture of ", to_string(images.shape()), "; expected (n, channels, height, width)");
  const Tensor picture = Tensor::empty({images.extent(2), images.extent(3), images.extent(1)}, Type::u8);
  const Tensor pixels = images.slice(0, i, 1).in_layout(Layout::channels_last);
  const float *from = pixels.data<float>();
  for (int64_t p = 0; p < picture.size(); ++p)
    picture.data<uint8_t>()[p] = !(from[p] > 0) ? 0 : from[p] >= 1 ? 255 : static_cast<uint8_t>(from[p] * 255 + 0.5F);
  return picture;
}

PictureFolder::PictureFolder(const std::string &folder) try {
  for (const auto &entry : fs::directory_iterator(folder))
    if (entry.is_directory()) classes_.push_back(entry.path().filename().string());
  if (classes_.empty()) fail("it has no folders, one for each class");
  std::sort(classes_.begin(), classes_.end());
  for (size_t label = 0; label < classes_.size(); ++label) {
    const std::vector<std::string> found = pictures_below(fs::path(folder) / classes_[label]);
    if (found.empty()) fail("the class '", classes_[label], "' has no pictures (.png, .jpg, .jpeg)");
    files_.insert(files_.end(), found.begin(), found.end());
    labels_.insert(labels_.end(), found.size(), static_cast<int32_t>(label));
  }
} catch (const fs::filesystem_error &e) {
  fail("pictures of ", folder, ": ", e.code().message());
} catch (const Error &e) {
  fail("pictures of ", folder, ": ", e.what());
}

Source PictureFolder::source(Channels channels, std::function<Tensor(const Tensor &picture)> prepare) const {
  Source s;
  s.size = static_cast<int64_t>(files_.size());
  s.sample = [files = files_, labels = labels_, channels, prepare = std::move(prepare)](int64_t i) {
    PngOptions options;
    options.channels = channels;
    const auto at = static_cast<size_t>(i);
    return Sample{prepare(read_picture(files.at(at), options)), Tensor::full({}, labels.at(at), Type::i32)};
  };
  s.name = [files = files_](int64_t i) { return files.at(static_cast<size_t>(i)); };
  return s;
}

}  // namespace saltern
