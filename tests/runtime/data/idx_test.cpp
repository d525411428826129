// IDX files come back as they were written by an independent writer, and damaged ones give errors that name the fault.

#include "runtime/data/idx.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include "tests/scratch_folder.h"

namespace saltern {
namespace {

std::string big_endian(uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i));
  return text;
}

std::string header(int type, const std::vector<uint32_t> &shape) {
  std::string text = {0, 0, static_cast<char>(type), static_cast<char>(shape.size())};
  for (uint32_t e : shape) text += big_endian(e, 4);
  return text;
}

std::string gzip(const std::string &plain) {
  z_stream z = {};
  EXPECT_EQ(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&z, plain.size()) + 32, '\0');
  z.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(plain.data()));
  z.avail_in = static_cast<uInt>(plain.size());
  z.next_out = reinterpret_cast<Bytef *>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  packed.resize(z.total_out);
  deflateEnd(&z);
  return packed;
}

std::string pixels(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += static_cast<char>(i * 37 + i / 7);
  return text;
}

class Idx : public testing::Test {
 protected:
  // The error of reading these bytes, which must name the file.
  std::string error(const std::string &bytes, const IdxOptions &options = {}) {
    const std::string path = folder.write("input.idx", bytes);
    const std::string text = error_of([&] { read_idx(path, options); });
    EXPECT_TRUE(contains(text, path));
    return text;
  }
  ScratchFolder folder;
};

TEST_F(Idx, PlainAndCompressedFilesHoldTheSameBytes) {
  for (uint32_t n : {1U, 2U, 7U, 613U}) {
    const std::string data = pixels(n * 5 * 3), file = header(8, {n, 5, 3}) + data;
    for (const std::string &bytes : {file, gzip(file)}) {
      const Tensor t = read_idx(folder.write("images", bytes));
      ASSERT_EQ(t.shape(), (Shape{n, 5, 3}));
      ASSERT_EQ(std::string(reinterpret_cast<char *>(t.data<uint8_t>()), data.size()), data);
    }
  }
}

TEST_F(Idx, WideElementsAreBigEndian) {
  const Tensor i = read_idx(folder.write("i", header(0x0c, {2}) + big_endian(7, 4) + big_endian(0xfffffffe, 4)));
  EXPECT_EQ(i.at<int32_t>({0}), 7);
  EXPECT_EQ(i.at<int32_t>({1}), -2);
  const Tensor f = read_idx(folder.write("f", header(0x0d, {1}) + big_endian(0xc0200000, 4)));
  EXPECT_EQ(f.at<float>({0}), -2.5F);
  const Tensor d = read_idx(folder.write("d", header(0x0e, {1, 1}) + big_endian(0x3fe0000000000000, 8)));
  EXPECT_EQ(d.at<double>({0, 0}), 0.5);
}

TEST_F(Idx, AFileOfNoElementsIsAnEmptyTensor) {
  EXPECT_EQ(read_idx(folder.write("none", header(8, {0, 28, 28}))).size(), 0);
}

TEST_F(Idx, WrongMagicIsNamed) {
  EXPECT_TRUE(contains(error("\x89PNG rest of a picture"), "not an IDX file"));
  EXPECT_TRUE(contains(error(header(0x55, {1})), "not an IDX element type"));
  EXPECT_TRUE(contains(error(header(8, {})), "rank 0"));
  EXPECT_TRUE(contains(error(header(8, std::vector<uint32_t>(9, 1))), "rank 9"));
}

TEST_F(Idx, UnsupportedElementTypesAreNamed) {
  EXPECT_TRUE(contains(error(header(0x09, {1}) + "a"), "signed byte"));
  EXPECT_TRUE(contains(error(header(0x0b, {1}) + "ab"), "16-bit integer"));
}

TEST_F(Idx, TruncationAnywhereIsAnError) {
  const std::string file = header(8, {4, 9}) + pixels(36), packed = gzip(file);
  for (size_t n = 0; n < file.size(); ++n) EXPECT_TRUE(contains(error(file.substr(0, n)), "truncated")) << n;
  for (size_t n = 0; n < packed.size(); ++n) error(packed.substr(0, n));
  EXPECT_TRUE(contains(error(packed.substr(0, packed.size() - 20)), "truncated"));
}

TEST_F(Idx, AHugeHeaderIsRefusedBeforeAllocation) {
  const std::vector<uint32_t> huge(8, 0xffffffff);
  EXPECT_TRUE(contains(error(header(8, huge)), "more than the file can hold"));
  EXPECT_TRUE(contains(error(gzip(header(8, huge))), "more than the file can hold"));
  EXPECT_TRUE(contains(error(header(0x0e, {0xffffffff, 2}) + pixels(100)), "more than the file can hold"));
  EXPECT_TRUE(contains(error(header(8, {100}) + pixels(100), IdxOptions{99}), "at most 99"));
}

TEST_F(Idx, DamageAndSurplusAreErrors) {
  std::string packed = gzip(header(8, {600}) + pixels(600));
  packed[packed.size() - 6] ^= 1;  // in the checksum
  EXPECT_TRUE(contains(error(packed), "damaged"));
  EXPECT_TRUE(contains(error(header(8, {3}) + "abcd"), "goes on after"));
}

TEST_F(Idx, FilesPackedOneAfterTheOtherAreOne) {
  const std::string file = header(8, {4}) + "abcd";
  const Tensor t = read_idx(folder.write("two", gzip(file.substr(0, 6)) + gzip(file.substr(6))));
  EXPECT_EQ(t.at<uint8_t>({3}), 'd');
  EXPECT_TRUE(contains(error(gzip(file) + "rubbish"), "damaged"));
}

TEST_F(Idx, BytesInMemoryAreReadAlike) {
  const std::string file = gzip(header(8, {2}) + "ab");
  EXPECT_EQ(decode_idx({file.begin(), file.end()}, "memory").at<uint8_t>({1}), 'b');
  expect_error([&] { decode_idx({file.begin(), file.end() - 1}, "memory"); }, {"memory"});
}

TEST_F(Idx, WhatIsNotAFileIsRefusedWithoutHanging) {
  EXPECT_TRUE(contains(error_of([&] { read_idx(folder.file("absent")); }), "No such file"));
  EXPECT_TRUE(contains(error_of([&] { read_idx(folder.file("")); }), "not a regular file"));
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(contains(error_of([&] { read_idx(folder.file("pipe")); }), "not a regular file"));
}

}  // namespace
}  // namespace saltern
