#include "runtime/data/cifar.h"

#include "runtime/files/file.h"

namespace saltern {

Dataset load_cifar(const std::vector<std::string> &files, int classes) {
  if (classes != 10 && classes != 100) fail("CIFAR has 10 or 100 classes, not ", classes);
  constexpr int64_t side = 32, pixels = side * side, channels = 3;
  const uint64_t before = classes == 100 ? 2 : 1, record = before + channels * pixels;
  constexpr uint64_t most = uint64_t{1} << 30;
  int64_t count = 0;
  std::vector<std::vector<uint8_t>> all;
  for (const std::string &path : files) {
    all.push_back(read_file(path, most));
    if (all.back().empty() || all.back().size() % record != 0)
      fail(path, " has ", all.back().size(), " bytes; CIFAR-", classes, "'s pictures have ", record, " each");
    count += static_cast<int64_t>(all.back().size() / record);
  }
  if (count == 0) fail("CIFAR: no files were given");
  Dataset d = {Tensor::empty({count, channels, side, side}, Type::u8, Layout::channels_last),
               Tensor::empty({count}, Type::i32)};
  uint8_t *to = d.images.data<uint8_t>();
  int32_t *label = d.labels.data<int32_t>();
  for (size_t f = 0; f < files.size(); ++f)
    for (uint64_t at = 0; at < all[f].size(); at += record) {
      const uint8_t *from = all[f].data() + at + before;
      *label = from[-1];
      if (*label >= classes) fail(files[f], ": label ", *label, " of picture ", at / record, " is not below ", classes);
      ++label;
      for (int64_t p = 0; p < pixels; ++p)
        for (int64_t c = 0; c < channels; ++c) *to++ = from[c * pixels + p];
    }
  return d;
}

}  // namespace saltern
