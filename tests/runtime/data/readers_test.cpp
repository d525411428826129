// What data come in: JPEG pictures beside what was encoded, folders of pictures, CIFAR's files, tables, texts, arrays that are
// mapped, and orders of samples. Damaged ones give errors that name the file and the fault.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
// It needs the one above.
#include <jpeglib.h>

#include "runtime/data/cifar.h"
#include "runtime/data/csv.h"
#include "runtime/data/jpeg.h"
#include "runtime/data/orders.h"
#include "runtime/data/picture_folder.h"
#include "runtime/data/text.h"
#include "runtime/tensor/npy.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

constexpr int height = 21, width = 34;

int level(int y, int x, int c) { return 20 + 4 * y + 3 * x + 15 * c; }

std::vector<uint8_t> encoded(int channels, bool in_scans) {
  jpeg_compress_struct encoder = {};
  jpeg_error_mgr errors = {};
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  unsigned char *memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &memory, &size);
  encoder.image_width = width;
  encoder.image_height = height;
  encoder.input_components = channels;
  encoder.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, 98, TRUE);
  if (in_scans) jpeg_simple_progression(&encoder);
  jpeg_start_compress(&encoder, TRUE);
  while (encoder.next_scanline < height) {
    std::vector<uint8_t> row;
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c)
        row.push_back(static_cast<uint8_t>(level(static_cast<int>(encoder.next_scanline), x, c)));
    JSAMPROW at = row.data();
    jpeg_write_scanlines(&encoder, &at, 1);
  }
  jpeg_finish_compress(&encoder);
  std::vector<uint8_t> bytes(memory, memory + size);
  jpeg_destroy_compress(&encoder);
  std::free(memory);
  return bytes;
}

void write(const std::string &path, const std::vector<uint8_t> &bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

TEST(Jpeg, PixelsAreThoseThatWereEncoded) {
  for (bool in_scans : {false, true})
    for (int channels : {1, 3}) {
      const Tensor picture = decode_jpeg(encoded(channels, in_scans), "picture");
      ASSERT_EQ(picture.shape(), (Shape{height, width, channels}));
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          for (int c = 0; c < channels; ++c)
            ASSERT_NEAR(picture.at<uint8_t>({y, x, c}), level(y, x, c), 4) << y << " " << x << " " << c;
    }
}

TEST(Jpeg, ChannelsAreConverted) {
  PngOptions options;
  options.channels = Channels::grey;
  const Tensor grey = decode_jpeg(encoded(3, false), "picture", options);
  ASSERT_EQ(grey.shape(), (Shape{height, width, 1}));
  const double wanted = 0.299 * level(7, 9, 0) + 0.587 * level(7, 9, 1) + 0.114 * level(7, 9, 2);
  EXPECT_NEAR(grey.at<uint8_t>({7, 9, 0}), wanted, 4);
  options.channels = Channels::rgb;
  const Tensor rgb = decode_jpeg(encoded(1, false), "picture", options);
  ASSERT_EQ(rgb.shape(), (Shape{height, width, 3}));
  EXPECT_EQ(rgb.at<uint8_t>({7, 9, 0}), rgb.at<uint8_t>({7, 9, 2}));
}

TEST(Jpeg, DamageIsAnErrorNotGreyPixels) {
  const std::vector<uint8_t> good = encoded(3, true);
  for (size_t kept = 0; kept < good.size(); ++kept)
    EXPECT_NE(error_of([&] {
                decode_jpeg({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(kept)}, "cat.jpg");
              }).find("cat.jpg"),
              std::string::npos)
        << kept << " of " << good.size() << " bytes";
  PngOptions few;
  few.max_bytes = 1000;
  EXPECT_NE(error_of([&] { decode_jpeg(good, "cat.jpg", few); }).find("34 x 21 pixels take more"), std::string::npos);
}

TEST(PictureFolder, FoldersAreClasses) {
  const ScratchFolder folder;
  const std::string root = folder.file("animals");
  std::filesystem::create_directories(root + "/dog/young");
  std::filesystem::create_directories(root + "/cat");
  write(root + "/dog/young/b.JPG", encoded(3, false));
  write_png(root + "/dog/a.png", Tensor::full({2, 3, 1}, 51, Type::u8));
  write(root + "/cat/c.jpeg", encoded(1, true));
  write(root + "/cat/notes.txt", {'x'});
  const PictureFolder animals(root);
  EXPECT_EQ(animals.classes(), (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(animals.labels(), (std::vector<int32_t>{0, 1, 1}));
  const Source s = animals.source();
  ASSERT_EQ(s.size, 3);
  EXPECT_EQ(s.name(1), root + "/dog/a.png");
  const Sample grey = s.sample(1);
  EXPECT_EQ(grey.x.shape(), (Shape{3, 2, 3}));
  EXPECT_FLOAT_EQ(grey.x.at<float>({2, 1, 2}), 0.2F);
  EXPECT_EQ(grey.target.item(), 1);
  EXPECT_EQ(s.sample(2).x.shape(), (Shape{3, height, width}));

  EXPECT_NE(error_of([&] { PictureFolder(root + "/cow"); }).find("/cow"), std::string::npos);
  std::filesystem::create_directories(root + "/bird");
  EXPECT_NE(error_of([&] { PictureFolder{root}; }).find("'bird' has no pictures"), std::string::npos);
}

TEST(Pictures, AreTheSameThereAndBack) {
  const Tensor picture = Tensor::empty({2, 3, 3}, Type::u8);
  for (int64_t i = 0; i < picture.size(); ++i) picture.data<uint8_t>()[i] = static_cast<uint8_t>(i * 15);
  const Tensor image = scaled_pixels(picture), images = Tensor::zeros({2, 3, 2, 3}, Type::f32, Layout::channels_last);
  images.slice(0, 1, 1).copy_from(image.reshaped({1, 3, 2, 3}));
  EXPECT_EQ(as_picture(images, 1).reals(), picture.reals());
  EXPECT_EQ(as_picture(images).reals(), std::vector<double>(18, 0));
  const Tensor beyond = Tensor::of<float>({1, 1, 1, 4}, {-3, 7, NAN, 0.5F});
  EXPECT_EQ(as_picture(beyond).reals(), (std::vector<double>{0, 255, 0, 128}));
  expect_error([&] { as_picture(image); }, {"[3, 2, 3]", "(n, channels, height, width)"});
}

TEST(Cifar, PlanesBecomePixels) {
  const ScratchFolder folder;
  std::vector<uint8_t> ten, hundred;
  for (int i = 0; i < 3; ++i) {
    ten.push_back(static_cast<uint8_t>(9 - i));
    hundred.insert(hundred.end(), {7, static_cast<uint8_t>(99 - i)});
    for (int k = 0; k < 3072; ++k) ten.push_back(static_cast<uint8_t>(k + i));
    hundred.insert(hundred.end(), ten.end() - 3072, ten.end());
  }
  write(folder.file("a"), ten);
  write(folder.file("b"), hundred);
  const Dataset d = load_cifar({folder.file("a"), folder.file("a")});
  ASSERT_EQ(d.size(), 6);
  EXPECT_EQ(d.labels.integers(), (std::vector<int64_t>{9, 8, 7, 9, 8, 7}));
  EXPECT_EQ(d.images.at<uint8_t>({4, 2, 3, 5}), static_cast<uint8_t>(2 * 1024 + 3 * 32 + 5 + 1));
  EXPECT_EQ(load_cifar({folder.file("b")}, 100).labels.integers(), (std::vector<int64_t>{99, 98, 97}));
  EXPECT_NE(error_of([&] { load_cifar({folder.file("b")}); }).find("bytes"), std::string::npos);
  ten[0] = 10;
  write(folder.file("c"), ten);
  EXPECT_NE(error_of([&] { load_cifar({folder.file("c")}); }).find("label 10 of picture 0"), std::string::npos);
}

TEST(Csv, CellsAreNumbersOrWords) {
  const Table t = decode_csv("size,\"kind, of\",price\r\n1.5,red, 2\r\n\n-3e2,\"a \"\"b\"\"\",\r\n0,red,+7\n", "t.csv");
  EXPECT_EQ(t.names, (std::vector<std::string>{"size", "kind, of", "price"}));
  ASSERT_EQ(t.values.shape(), (Shape{3, 3}));
  const std::vector<double> found = t.values.reals();
  EXPECT_EQ(found[0], 1.5);
  EXPECT_EQ(found[3], -300);
  EXPECT_EQ(t.words.at("kind, of"), (std::vector<std::string>{"a \"b\"", "red"}));
  EXPECT_EQ(found[1], 1);
  EXPECT_EQ(found[4], 0);
  EXPECT_TRUE(std::isnan(found[5]));
  EXPECT_EQ(found[8], 7);
  EXPECT_EQ(t.columns({"size"}).reals(), (std::vector<double>{1.5, -300, 0}));
  EXPECT_EQ(t.columns_but({"price", "kind, of"}).reals(), t.columns({"size"}).reals());

  CsvOptions plain;
  plain.separator = ';';
  plain.has_names = false;
  EXPECT_EQ(decode_csv("1;2\n3;4", "t.csv", plain).columns({"1"}).reals(), (std::vector<double>{2, 4}));
}

TEST(Csv, CodesAreWordsWhereOneSaysSo) {
  CsvOptions codes;
  codes.words = {"place"};
  const Table t = decode_csv("place,size\n0901,1\n10,2\n0901,3\n", "t.csv", codes);
  EXPECT_EQ(t.words.at("place"), (std::vector<std::string>{"0901", "10"}));
  EXPECT_EQ(t.columns({"place"}).reals(), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(t.words.count("size"), 0U);
  codes.words = {"town"};
  expect_error([&] { decode_csv("place\n1\n", "t.csv", codes); }, {"t.csv", "'town'"});
}

TEST(Csv, ErrorsNameTheLine) {
  const auto error = [](const std::string &text) { return error_of([&] { decode_csv(text, "t.csv"); }); };
  EXPECT_EQ(error("a,b\n1,2\n\"x\ny\",2\n1,2,3\n"), "t.csv, line 5: 3 cells for 2 columns");
  EXPECT_EQ(error("a,b\n1,\"2\n"), "t.csv, line 2: a quoted cell has no end");
  EXPECT_EQ(error("a,b\n\"1\"x,2\n"), "t.csv, line 2: text behind a quoted cell");
  EXPECT_EQ(error("a,a\n1,2\n"), "t.csv: two columns are called 'a'");
  EXPECT_EQ(error("a,b\n"), "t.csv has no rows");
  EXPECT_EQ(error_of([] { decode_csv("a\n1\n", "t").columns({"b"}); }), "the table has no column 'b'");
}

TEST(Text, StretchesHaveWhatFollowsAsTargets) {
  const Text text = text_of("hello");
  EXPECT_EQ(text.alphabet, "ehlo");
  EXPECT_EQ(text.tokens.integers(), (std::vector<int64_t>{1, 0, 2, 2, 3}));
  EXPECT_EQ(text.decoded({3, 2}), "ol");
  const Source s = stretches(text.tokens, 2, 2);
  ASSERT_EQ(s.size, 2);
  EXPECT_EQ(s.sample(1).x.integers(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(s.sample(1).target.integers(), (std::vector<int64_t>{2, 3}));
  EXPECT_NE(error_of([&] { stretches(text.tokens, 5); }).find("5 tokens have none of 5"), std::string::npos);
  EXPECT_NE(error_of([&] { text.decoded({4}); }).find("no token 4"), std::string::npos);
}

TEST(Npy, MappedArraysAreThoseOfTheFile) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.npy");
  const Tensor a = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  write_npy(path, a);
  const Tensor b = map_npy(path);
  EXPECT_EQ(b.reals(), a.reals());
  b.at<float>({1, 1}) = 9;
  EXPECT_EQ(read_npy(path).reals(), a.reals());
  write_npy(path, Tensor::full({2}, 1, Type::boolean));
  EXPECT_NE(error_of([&] { map_npy(path); }).find("truth values"), std::string::npos);
}

TEST(Orders, ArePureFunctionsOfSeedAndEpoch) {
  const std::vector<int32_t> labels = [] {
    std::vector<int32_t> all(90, 0);
    std::fill(all.begin() + 60, all.end(), 1);
    return all;
  }();
  const std::vector<double> weights = {1, 0, 3};
  for (const Order &order : {shuffled(90, 3), stratified(labels, 3), weighted(weights, 4000, 3)}) {
    EXPECT_EQ(order(2), order(2));
    EXPECT_NE(order(2), order(3));
  }
  std::vector<int64_t> all = stratified(labels, 3)(1);
  for (size_t i = 0; i + 9 <= all.size(); i += 9) {  // a third of any stretch, give or take one
    const auto ones =
        std::count_if(all.begin() + static_cast<std::ptrdiff_t>(i), all.begin() + static_cast<std::ptrdiff_t>(i) + 9,
                      [](int64_t s) { return s >= 60; });
    EXPECT_NEAR(static_cast<double>(ones), 3, 1);
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, in_order(90)(0));
  const std::vector<int64_t> drawn = weighted(weights, 4000, 3)(0);
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), 1), 0);
  EXPECT_NEAR(static_cast<double>(std::count(drawn.begin(), drawn.end(), 2)), 3000, 120);
  std::vector<int64_t> parts;
  for (int64_t rank : {0, 1, 2, 3}) {
    const std::vector<int64_t> part = sharded(shuffled(90, 3), rank, 4)(5);
    EXPECT_EQ(part.size(), 22U);
    parts.insert(parts.end(), part.begin(), part.end());
  }
  std::sort(parts.begin(), parts.end());
  EXPECT_EQ(std::unique(parts.begin(), parts.end()), parts.end());
  EXPECT_NE(error_of([] { sharded(in_order(3), 3, 3); }).find("no part 3 of 3"), std::string::npos);
  EXPECT_NE(error_of([] { weighted({1, -1}, 3, 0); }).find("sample 1 is -1"), std::string::npos);
}

}  // namespace
}  // namespace saltern
