// Pictures survive writing and reading; every bit depth and colour type of PNG arrives as 8-bit grey, RGB or RGBA,
// checked against files built here chunk by chunk; damaged files give errors that name the file and the fault.

#include "runtime/data/png.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <zlib.h>

#include "tests/scratch_folder.h"

namespace saltern {
namespace {

std::string number(uint32_t v) {
  return {static_cast<char>(v >> 24), static_cast<char>(v >> 16), static_cast<char>(v >> 8), static_cast<char>(v)};
}

std::string chunk(const std::string &type, const std::string &data) {
  const std::string body = type + data;
  const auto sum = crc32(0, reinterpret_cast<const Bytef *>(body.data()), static_cast<uInt>(body.size()));
  return number(static_cast<uint32_t>(data.size())) + body + number(static_cast<uint32_t>(sum));
}

std::string compressed(const std::string &plain) {
  uLongf size = compressBound(plain.size());
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef *>(packed.data()), &size, reinterpret_cast<const Bytef *>(plain.data()),
           plain.size());
  packed.resize(size);
  return packed;
}

const std::string signature = "\x89PNG\r\n\x1a\n";

std::string header(uint32_t width, uint32_t height, int depth, int colour) {
  return chunk("IHDR", number(width) + number(height) +
                           std::string{static_cast<char>(depth), static_cast<char>(colour), 0, 0, 0});
}

// A whole file; `rows` holds a filter byte before each row.
std::string png(uint32_t width, uint32_t height, int depth, int colour, const std::string &rows,
                const std::string &before_data = "") {
  return signature + header(width, height, depth, colour) + before_data + chunk("IDAT", compressed(rows)) +
         chunk("IEND", "");
}

Tensor decode(const std::string &bytes, Channels channels = Channels::as_stored) {
  PngOptions options;
  options.channels = channels;
  return decode_png({bytes.begin(), bytes.end()}, "memory", options);
}

std::vector<int> values(const Tensor &t) { return {t.data<uint8_t>(), t.data<uint8_t>() + t.size()}; }

Tensor pattern(const Shape &shape) {
  const Tensor t = Tensor::empty(shape, Type::u8);
  for (int64_t i = 0; i < t.size(); ++i) t.data<uint8_t>()[i] = static_cast<uint8_t>(i * 31 + i / 5);
  return t;
}

TEST(Png, PicturesSurviveWritingAndReading) {
  const ScratchFolder folder;
  for (int64_t channels : {1, 3, 4})
    for (int64_t side : {1, 7, 28, 257}) {
      const Tensor picture = pattern({side, side + 2, channels});
      write_png(folder.file("a.png"), picture);
      const Tensor back = read_png(folder.file("a.png"));
      ASSERT_EQ(back.shape(), picture.shape());
      EXPECT_EQ(values(back), values(picture));
    }
  EXPECT_EQ(folder.count(), 1U) << "a temporary file was left";
}

TEST(Png, StridedPicturesAreWrittenInRowOrder) {
  const ScratchFolder folder;
  const Tensor whole = pattern({9, 8, 3}), part = whole.slice(1, 2, 5);
  write_png(folder.file("part.png"), part);
  EXPECT_EQ(values(read_png(folder.file("part.png"))), values(part.clone()));
}

TEST(Png, EveryKindOfPixelBecomesEightBits) {
  using V = std::vector<int>;
  EXPECT_EQ(values(decode(png(3, 1, 1, 0, std::string("\0\xa0", 2)))), (V{255, 0, 255}));
  EXPECT_EQ(values(decode(png(2, 1, 16, 0, std::string("\0\x80\x80\xff\xff", 5)))), (V{128, 255}));
  EXPECT_EQ(values(decode(png(1, 1, 8, 4, std::string("\0\x40\x7f", 3)))), (V{64, 64, 64, 127}));
  const std::string palette = chunk("PLTE", std::string("\x01\x02\x03\xfd\xfe\xff", 6));
  EXPECT_EQ(values(decode(png(2, 1, 8, 3, std::string("\0\1\0", 3), palette))), (V{253, 254, 255, 1, 2, 3}));
  const std::string transparent = palette + chunk("tRNS", "\x05");
  EXPECT_EQ(values(decode(png(2, 1, 8, 3, std::string("\0\0\1", 3), transparent))),
            (V{1, 2, 3, 5, 253, 254, 255, 255}));
}

TEST(Png, ChannelsAreConvertedOnRequest) {
  const std::string rgba = png(1, 1, 8, 6, std::string("\0\x50\x50\x50\x07", 5));
  EXPECT_EQ(values(decode(rgba, Channels::grey)), (std::vector<int>{0x50}));
  EXPECT_EQ(values(decode(rgba, Channels::rgb)), (std::vector<int>{0x50, 0x50, 0x50}));
  EXPECT_EQ(values(decode(png(1, 1, 8, 0, std::string("\0\x21", 2)), Channels::rgb)),
            (std::vector<int>{0x21, 0x21, 0x21}));
  const std::string transparent_grey =
      png(1, 1, 8, 0, std::string("\0\x21", 2), chunk("tRNS", std::string("\0\x21", 2)));
  EXPECT_EQ(values(decode(transparent_grey, Channels::grey)), (std::vector<int>{0x21}));
  EXPECT_EQ(values(decode(transparent_grey)), (std::vector<int>{0x21, 0x21, 0x21, 0}));
}

class HostilePng : public testing::Test {
 protected:
  std::string error(const std::string &bytes, const PngOptions &options = {}) {
    const std::string path = folder.write("input.png", bytes);
    const std::string text = error_of([&] { read_png(path, options); });
    EXPECT_TRUE(contains(text, path));
    return text;
  }
  ScratchFolder folder;
};

TEST_F(HostilePng, TruncationAnywhereIsAnError) {
  write_png(folder.file("good.png"), pattern({11, 13, 3}));
  const std::string good = bytes_of_file(folder.file("good.png"));
  for (size_t n = 0; n < good.size(); ++n) error(good.substr(0, n));
  EXPECT_TRUE(contains(error(good.substr(0, good.size() / 2)), "truncated"));
}

TEST_F(HostilePng, AFlippedBitAnywhereDoesNoHarm) {
  write_png(folder.file("good.png"), pattern({6, 5, 1}));
  const std::string good = bytes_of_file(folder.file("good.png"));
  size_t errors = 0;
  for (size_t n = 0; n < good.size() * 8; ++n) {
    std::string bad = good;
    bad[n / 8] = static_cast<char>(bad[n / 8] ^ (1 << n % 8));
    try {
      decode(bad);
    } catch (const Error &) {
      ++errors;
    }
  }
  EXPECT_GT(errors, good.size() * 7);
}

TEST_F(HostilePng, WrongMagicIsNamed) {
  EXPECT_TRUE(contains(error(""), "not a PNG file"));
  EXPECT_TRUE(contains(error("GIF89a, not what the name says"), "not a PNG file"));
}

TEST_F(HostilePng, HugeClaimsAreRefusedBeforeAllocation) {
  const std::string rows = compressed("nothing");
  const auto claim = [&](uint32_t w, uint32_t h) {
    return signature + header(w, h, 8, 6) + chunk("IDAT", rows) + chunk("IEND", "");
  };
  EXPECT_TRUE(contains(error(claim(0x7fffffff, 0x7fffffff)), "Invalid IHDR"));
  EXPECT_TRUE(contains(error(claim(1 << 20, 1 << 20)), "more than the file can hold"));
  PngOptions small;
  small.max_bytes = 299;
  EXPECT_TRUE(contains(error(png(10, 10, 8, 2, std::string(310, '\0')), small), "limit of 299"));
}

TEST_F(HostilePng, ATextThatUnpacksToMoreThanThePictureIsSkipped) {
  const std::string bomb = chunk("zTXt", std::string("key\0\0", 5) + compressed(std::string(64 << 20, 'a')));
  const Tensor picture = decode(png(2, 1, 8, 0, std::string("\0ab", 3), bomb));
  EXPECT_EQ(values(picture), (std::vector<int>{'a', 'b'}));
}

TEST_F(HostilePng, NothingIsAllocatedForWhatAChunkClaims) {
  const auto peak = [] {
    struct rusage use = {};
    getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss;  // KB
  };
  const auto before = peak();
  const std::string start = signature + header(2, 1, 8, 0);
  for (const char *type :
       {"iCCP", "iTXt", "sPLT", "tEXt", "zTXt", "eXIf", "hIST", "pCAL", "sCAL", "priv", "IDAT", "PLTE", "tRNS"})
    error(start + number(0x76767676) + type + "a few bytes");
  EXPECT_LT(peak() - before, 256 << 10);
}

TEST_F(HostilePng, LibpngsOwnMessageIsPassedOn) {
  std::string bad = png(2, 2, 8, 0, std::string("\0ab\0cd", 6));
  bad[bad.size() - 14] ^= 0x55;  // the checksum of the pixels
  EXPECT_TRUE(contains(error(bad), "IDAT"));
}

TEST_F(HostilePng, WhatIsNoPictureIsNotWritten) {
  const std::string path = folder.file("bad.png");
  for (const Tensor &t : {Tensor::zeros({2, 2, 3}), Tensor::zeros({2, 2, 2}, Type::u8), Tensor::zeros({0, 2}, Type::u8),
                          Tensor::zeros({2}, Type::u8)})
    EXPECT_TRUE(contains(error_of([&] { write_png(path, t); }), path));
  EXPECT_TRUE(contains(error_of([&] { write_png(folder.file("no/such.png"), pattern({2, 2})); }), "no/such.png"));
  EXPECT_EQ(folder.count(), 0U);
}

}  // namespace
}  // namespace saltern
