// ImageDecoder on files made by hand.

#include <gtest/gtest.h>

#include "tests/run_operator.h"

namespace saltern {
namespace {

HostValue decoded(const std::string &file, const std::string &format = "RGB") {
  const std::vector<uint8_t> bytes(file.begin(), file.end());
  const Tensor t = Tensor::of<uint8_t>({static_cast<int64_t>(bytes.size())}, bytes);
  return OperatorCall{"ImageDecoder", {t}, {{"pixel_format", format}}}.on_host()[0];
}

TEST(ImageDecoder, ReadsPnmInWordsAndBytes) {
  EXPECT_EQ(values_of<uint8_t>(decoded("P3 # red, then half of blue\n2 1\n100\n100 0 0  0 0 50")),
            (std::vector<uint8_t>{255, 0, 0, 0, 0, 128}));
  EXPECT_EQ(values_of<uint8_t>(decoded("P6 1 1 255\n\x01\x02\x03", "BGR")), (std::vector<uint8_t>{3, 2, 1}));
  EXPECT_EQ(decoded("P5 1 1 255\n\x07", "Grayscale").tensor().shape(), (Shape{1, 1, 1}));
}

TEST(ImageDecoder, GivesNothingForDamagedFiles) {
  EXPECT_EQ(decoded("P6 9999999 9999999 255\n").tensor().size(), 0);
  EXPECT_EQ(decoded("P6 2 2 255\n\x01").tensor().size(), 0);
  EXPECT_EQ(decoded("BM").tensor().size(), 0);
  EXPECT_EQ(decoded("").tensor().size(), 0);
  EXPECT_THROW(decoded("\xFF\xD8\xFF"), Unsupported);
}

}  // namespace
}  // namespace saltern
