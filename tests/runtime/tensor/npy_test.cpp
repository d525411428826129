// .npy files that NumPy wrote come back as what it wrote, what is written here has the bytes that NumPy writes, and
// damaged files give errors that name the file and the fault.

#include "runtime/tensor/npy.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/scratch_folder.h"

namespace saltern {
namespace {

// As numpy.save begins a file: the header is filled with blanks until elements begin at a multiple of 64.
std::string npy(const std::string &dictionary, const std::string &elements, char version = 1) {
  std::string header = dictionary;
  const size_t before = version == 1 ? 10 : 12;
  while ((before + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string file = "\x93NUMPY";
  file += {version, 0, static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  if (version > 1) file += std::string(2, '\0');
  return file + header + elements;
}

std::string array(const std::string &type, const std::string &shape, const std::string &elements,
                  const std::string &fortran = "False") {
  return npy("{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }", elements);
}

std::string bytes_of(std::initializer_list<int> list) {
  std::string bytes;
  for (int b : list) bytes += static_cast<char>(b);
  return bytes;
}

// numpy.save(file, numpy.array([[1, 2.5, -3], [4, 5, 6]], numpy.float32)), NumPy 2.4
const std::string by_numpy =
    "\x93NUMPY" + std::string("\x01\x00v\x00", 4) + "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" +
    std::string(58, ' ') + "\n" +
    std::string("\x00\x00\x80?\x00\x00 @\x00\x00@\xc0\x00\x00\x80@\x00\x00\xa0@\x00\x00\xc0@", 24);

class Npy : public testing::Test {
 protected:
  Tensor read(const std::string &bytes) { return read_npy(folder.write("array.npy", bytes)); }
  // The error of reading these bytes, which must name the file.
  std::string error(const std::string &bytes) {
    const std::string path = folder.write("bad.npy", bytes);
    const std::string text = error_of([&] { read_npy(path); });
    EXPECT_TRUE(contains(text, path));
    return text;
  }
  ScratchFolder folder;
};

TEST_F(Npy, WhatNumpyWroteIsReadAndWrittenWithTheSameBytes) {
  const Tensor t = read(by_numpy);
  EXPECT_EQ(t.shape(), (Shape{2, 3}));
  EXPECT_EQ(t.type(), Type::f32);
  EXPECT_EQ(t.reals(), (std::vector<double>{1, 2.5, -3, 4, 5, 6}));
  write_npy(folder.file("again.npy"), t);
  EXPECT_EQ(bytes_of_file(folder.file("again.npy")), by_numpy);
}

TEST_F(Npy, EveryTypeThatNumpyHasComesBack) {
  for (const auto &[code, type] : std::vector<std::pair<std::string, Type>>{{"|b1", Type::boolean},
                                                                            {"|i1", Type::i8},
                                                                            {"<i2", Type::i16},
                                                                            {"<i4", Type::i32},
                                                                            {"<i8", Type::i64},
                                                                            {"|u1", Type::u8},
                                                                            {"<u2", Type::u16},
                                                                            {"<u4", Type::u32},
                                                                            {"<u8", Type::u64},
                                                                            {"<f2", Type::f16},
                                                                            {"<f4", Type::f32},
                                                                            {"<f8", Type::f64}}) {
    const Tensor t = Tensor::full({3}, 1, type);
    write_npy(folder.file("t.npy"), t);
    const std::string bytes = bytes_of_file(folder.file("t.npy"));
    EXPECT_TRUE(contains(bytes, "'descr': '" + code + "'"));
    EXPECT_TRUE(contains(bytes, "(3,)"));
    const Tensor back = read(bytes);
    EXPECT_EQ(back.type(), type);
    EXPECT_EQ(back.reals(), t.reals()) << code;
  }
}

TEST_F(Npy, TypesThatNumpyHasNotAreRefusedByName) {
  const std::string path = folder.file("t.npy");
  expect_error([&] { write_npy(path, Tensor::zeros({1}, Type::bf16)); }, {path, "bf16"});
  expect_error([&] { write_npy(path, Tensor::zeros({1}, Type::i4)); }, {path, "i4"});
  EXPECT_TRUE(contains(error(array("<U5", "(1,)", std::string(20, 'x'))), "'<U5'"));
  EXPECT_TRUE(contains(error(array("|O", "(1,)", "x")), "'|O'"));
  EXPECT_TRUE(contains(error(array("<c8", "(1,)", std::string(8, '\0'))), "'<c8'"));
  EXPECT_TRUE(
      contains(error(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "")), "records"));
}

TEST_F(Npy, BigEndianAndFortranOrderAreTurned) {
  EXPECT_EQ(read(array(">i2", "(2, 3)", bytes_of({0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6}), "True")).integers(),
            (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(read(array(">f4", "(1,)", bytes_of({0xc0, 0x20, 0, 0}))).reals(), (std::vector<double>{-2.5}));
  EXPECT_EQ(read(array("=u2", "(1,)", bytes_of({1, 2}))).integers(), (std::vector<int64_t>{0x201}));
}

TEST_F(Npy, AStridedTensorIsWrittenRowMajor) {
  const Tensor t = Tensor::of<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6}), turned = t.viewed({3, 2}, {1, 3});
  write_npy(folder.file("t.npy"), turned);
  EXPECT_EQ(read_npy(folder.file("t.npy")).integers(), (std::vector<int64_t>{1, 4, 2, 5, 3, 6}));
}

TEST_F(Npy, OtherVersionsScalarsAndEmptyArraysAreRead) {
  for (char version : {2, 3})
    EXPECT_EQ(read(npy("{\"shape\": (1L,), \"fortran_order\": False, \"descr\": \"<i8\"}",
                       std::string("\x07\0\0\0\0\0\0", 8), version))
                  .integers(),
              (std::vector<int64_t>{7}));
  EXPECT_EQ(read(array("|u1", "()", "\x09")).item(), 9);
  EXPECT_EQ(read(array("<f8", "(0, 7)", "")).shape(), (Shape{0, 7}));
  EXPECT_TRUE(contains(error(array("<f8", "(0, 9223372036854775807)", "")), "impossible shape"));
  // Whatever is not 0 is true.
  EXPECT_EQ(read(array("|b1", "(3,)", bytes_of({0, 1, 200}))).integers(), (std::vector<int64_t>{0, 1, 1}));
}

TEST_F(Npy, TruncationAnywhereIsAnError) {
  for (size_t n = 0; n < by_numpy.size(); ++n) error(by_numpy.substr(0, n));
  EXPECT_TRUE(contains(error(by_numpy.substr(0, by_numpy.size() - 1)), "truncated"));
  EXPECT_TRUE(contains(error(by_numpy + "x"), "goes on after"));
}

TEST_F(Npy, AHeaderThatLiesIsRefusedBeforeAllocation) {
  EXPECT_TRUE(contains(error("PK\x03\x04 something else"), "not an .npy file"));
  EXPECT_TRUE(contains(error(std::string("\x93NUMPY\x09\x00v\x00 ....", 15)), "version 9"));
  EXPECT_TRUE(contains(error(std::string("\x93NUMPY\x02\x00\xff\xff\xff\x7f{", 13)), "2147483647 characters"));
  const std::string huge = "(4294967296, 4294967296, 4294967296, )";
  EXPECT_TRUE(contains(error(array("<f4", huge, "")), "impossible shape"));
  EXPECT_TRUE(contains(error(array("<f4", "(99999999999,)", "")), "truncated"));
  EXPECT_TRUE(contains(error(array("<f4", "(99999999999999999999,)", "")), "no list of extents"));
  EXPECT_TRUE(contains(error(array("<f4", "(-1,)", "")), "no list of extents"));
  EXPECT_TRUE(contains(error(array("<f4", "(1,)", "", "Maybe")), "neither True nor False"));
  std::string deep = "(";
  for (int i = 0; i < 40; ++i) deep += "1,";
  EXPECT_TRUE(contains(error(array("<f4", deep + ")", "abcd")), "more than 32 dimensions"));
  EXPECT_TRUE(contains(error(npy("{'descr': '<f4', 'shape': (1,)}", "abcd")), "lacks"));
  EXPECT_TRUE(contains(error(npy("{'descr': '<f4', 'name': 'x'}", "abcd")), "'name'"));
}

TEST_F(Npy, AnyDamagedByteIsReadOrRefused) {
  for (size_t i = 0; i < by_numpy.size(); ++i)
    for (int flip : {1, 0x20, 0x80}) {
      std::string bytes = by_numpy;
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      try {
        decode_npy({bytes.begin(), bytes.end()}, "array.npy");
      } catch (const Error &e) {
        EXPECT_TRUE(contains(e.what(), "array.npy"));
      }
    }
}

}  // namespace
}  // namespace saltern
