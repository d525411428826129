// .npz archives that NumPy wrote are read; what is written comes back; damaged archives and bombs give errors that name
// the file.

#include "runtime/tensor/npz.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "runtime/tensor/npy.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

std::string from_hex(const std::string &digits) {
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

// numpy.savez_compressed(file, a=numpy.array([1, 2, 3], numpy.uint8), **{"b/c": numpy.array(2.5)}), NumPy 2.4
const std::string by_numpy = from_hex(
    "504b03042d0000000800000021002ae38eb1ffffffffffffffff05001400612e6e7079010010008300000000000000470000"
    "00000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a05e536aa8aea3a09e965f54529498179f5f94920a12774bcc"
    "294e058a17672416a402f91ac63a9a3a0ab50a14002e46266600504b03042d00000008000000210035b43a93ffffffffffff"
    "ffff07001400622f632e6e707901001000880000000000000047000000000000009bec17ea1b10c9c850c650ad9e925a9c5c"
    "a46ea5a06e9366a1aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a9a3a0ab50a14012e0630"
    "60710000504b01022d032d0000000800000021002ae38eb14700000083000000050000000000000000000000800100000000"
    "612e6e7079504b01022d032d00000008000000210035b43a93470000008800000007000000000000000000000080017e0000"
    "00622f632e6e7079504b0506000000000200020068000000fe0000000000");

std::string little_endian(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

// An archive of one entry, as the format says, whose fields can lie.
struct Archive {
  std::string name = "a.npy", contents = "";
  uint16_t method = 0, flags = 0, copies = 1;
  uint64_t claimed = 0;
  uint32_t offset = 0;

  std::string bytes() const {
    const uint32_t checksum = static_cast<uint32_t>(
        crc32(0, reinterpret_cast<const Bytef *>(contents.data()), static_cast<uInt>(contents.size())));
    const std::string shared = little_endian(20, 2) + little_endian(flags, 2) + little_endian(method, 2) +
                               little_endian(0, 4) + little_endian(checksum, 4) + little_endian(contents.size(), 4) +
                               little_endian(claimed ? claimed : contents.size(), 4) + little_endian(name.size(), 2) +
                               little_endian(0, 2);
    const std::string local = "PK\x03\x04" + shared + name + contents;
    const std::string entry =
        "PK\x01\x02" + little_endian(20, 2) + shared + std::string(10, '\0') + little_endian(offset, 4) + name;
    std::string all = local;
    for (int i = 0; i < copies; ++i) all += entry;
    return all + "PK\x05\x06" + little_endian(0, 4) + little_endian(copies, 2) + little_endian(copies, 2) +
           little_endian(entry.size() * copies, 4) + little_endian(local.size(), 4) + little_endian(0, 2);
  }
};

class Npz : public testing::Test {
 protected:
  std::map<std::string, Tensor> read(const std::string &bytes) { return read_npz(folder.write("arrays.npz", bytes)); }
  // The error of reading these bytes, which must name the file.
  std::string error(const std::string &bytes, const NpzOptions &options = {}) {
    const std::string path = folder.write("bad.npz", bytes);
    const std::string text = error_of([&] { read_npz(path, options); });
    EXPECT_TRUE(contains(text, path));
    return text;
  }
  ScratchFolder folder;
};

std::string array_of(const Tensor &t) {
  const std::vector<uint8_t> bytes = encode_npy(t, "array");
  return {bytes.begin(), bytes.end()};
}

TEST_F(Npz, WhatNumpyWroteIsRead) {
  const auto all = read(by_numpy);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all.at("a").type(), Type::u8);
  EXPECT_EQ(all.at("a").integers(), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(all.at("b/c").item(), 2.5);
}

TEST_F(Npz, WhatIsWrittenComesBackStoredAndDeflated) {
  const Tensor many = Tensor::zeros({300, 100});
  for (int64_t i = 0; i < many.size(); ++i) many.data<float>()[i] = static_cast<float>(i % 17);
  const std::map<std::string, Tensor> written = {
      {"x", many}, {"größe", Tensor::of<int64_t>({2}, {-1, 5})}, {"none", Tensor::zeros({0, 3})}};
  for (bool compressed : {false, true}) {
    const std::string path = folder.file("out.npz");
    write_npz(path, written, compressed);
    EXPECT_EQ(bytes_of_file(path).size() < many.bytes(), compressed);
    const auto back = read_npz(path);
    ASSERT_EQ(back.size(), written.size());
    for (const auto &[name, t] : written) {
      EXPECT_EQ(back.at(name).shape(), t.shape());
      EXPECT_EQ(back.at(name).reals(), t.reals()) << name;
    }
  }
  expect_error([&] { write_npz(folder.file("empty.npz"), {}); }, {"empty.npz", "no arrays"});
}

TEST_F(Npz, PlainEntriesWithAndWithoutACommentAreRead) {
  const Archive a = {"x.npy", array_of(Tensor::of<int32_t>({1}, {42}))};
  EXPECT_EQ(read(a.bytes()).at("x").item(), 42);
  std::string commented = a.bytes();
  commented.replace(commented.size() - 2, 2, little_endian(5, 2) + "hello");
  EXPECT_EQ(read(commented).at("x").item(), 42);
}

TEST_F(Npz, TruncationAnywhereIsAnError) {
  for (size_t n = 0; n < by_numpy.size(); ++n) error(by_numpy.substr(0, n));
  EXPECT_TRUE(contains(error(""), "not a ZIP archive"));
  EXPECT_TRUE(contains(error(by_numpy.substr(0, 200)), "truncated"));
}

TEST_F(Npz, AnyDamagedByteIsReadOrRefused) {
  write_npz(folder.file("own.npz"), {{"a", Tensor::of<uint8_t>({3}, {1, 2, 3})}});
  for (const std::string &good : {by_numpy, bytes_of_file(folder.file("own.npz"))})
    for (size_t i = 0; i < good.size(); ++i) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ (i % 2 ? 1 : 0xff));
      try {
        read(bytes);
      } catch (const Error &e) {
        EXPECT_TRUE(contains(e.what(), "arrays.npz"));
      }
    }
}

TEST_F(Npz, AnEntryHasTheSizeThatTheDirectorySays) {
  const std::string array = array_of(Tensor::of<uint8_t>({3}, {1, 2, 3}));
  EXPECT_TRUE(contains(error(Archive{"a.npy", array, 0, 0, 1, array.size() + 1}.bytes()), "cannot hold them"));
  EXPECT_TRUE(contains(error(Archive{"a.npy", array, 8, 0, 1, 0xfffffff0}.bytes()), "cannot hold them"));
  EXPECT_TRUE(contains(error(Archive{"a.npy", array, 8, 0, 1, 1000}.bytes()), "a.npy is not an .npy file"));
  // Good data, but of another size than claimed: the array's header tells.
  for (const auto &[claimed, text] : {std::pair(130, "is truncated"), {132, "goes on after the 3 bytes of u8[3]"}}) {
    const size_t at = by_numpy.find("PK\x01\x02") + 24;
    std::string bytes = by_numpy;
    bytes.replace(at, 4, little_endian(claimed, 4));
    EXPECT_TRUE(contains(error(bytes), text));
  }
}

// Deflated, without zlib's head and tail.
std::string deflated(const std::string &bytes) {
  z_stream stream = {};
  deflateInit2(&stream, 1, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

TEST_F(Npz, DataThatEndsOrGoesOnAgainstHeaderAndDirectoryIsDamaged) {
  const std::string array = array_of(Tensor::zeros({5000}, Type::u8));
  for (const std::string &data : {array.substr(0, array.size() - 1), array + "more"})
    EXPECT_TRUE(contains(error(Archive{"a.npy", deflated(data), 8, 0, 1, array.size()}.bytes()), "'a.npy' is damaged"));
}

int64_t most_memory_kilobytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Less than a megabyte that becomes 200: these once took 400 and more, and all of that before the header was looked at.
TEST_F(Npz, TakesTheMemoryOfItsArraysAndNoMore) {
  constexpr int64_t bytes = 200'000'000, kilobyte = 1024;
  std::string path = folder.file("large.npz");
  {
    std::string array = array_of(Tensor::zeros({1}, Type::u8));
    const std::string shape = "(1,), }", large = "(200000000,), }";
    array.replace(array.find(shape), large.size(), large);
    array.resize(array.size() - 1 + bytes);
    const std::string packed = deflated(array);
    array = {};
    folder.write("large.npz", Archive{"a.npy", packed, 8, 0, 1, bytes + 128}.bytes());
  }
  const pid_t child = fork();  // which forgets what was most before
  if (child == 0) {
    const auto unwanted = [](const std::string &, Type, const Shape &) { return false; };
    std::ofstream("/proc/self/clear_refs") << "5";
    const int64_t before = most_memory_kilobytes();
    if (!read_npz(path, {bytes + 1000, unwanted}).empty() || most_memory_kilobytes() - before > 10 * kilobyte) _exit(1);
    try {
      read_npz(path);
    } catch (const Error &) {  // the checksum, which is not the contents'
    }
    _exit(most_memory_kilobytes() - before > bytes / kilobyte * 5 / 4 ? 2 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "1: the header alone; 2: the array";
}

TEST_F(Npz, ABombIsRefusedBeforeItIsUnpacked) {
  const std::string array = array_of(Tensor::zeros({1 << 20}, Type::u8));
  // Many entries that are one and the same data.
  EXPECT_TRUE(contains(error(Archive{"a.npy", array, 0, 0, 100}.bytes()), "overlap"));
  EXPECT_TRUE(contains(error(Archive{"a.npy", array}.bytes(), {1 << 20}), "at most 1048576"));
}

TEST_F(Npz, WhatIsNotReadIsNamed) {
  const std::string array = array_of(Tensor::of<uint8_t>({3}, {1, 2, 3}));
  EXPECT_TRUE(contains(error(Archive{"readme.txt", array}.bytes()), "'readme.txt' is not an .npy file"));
  EXPECT_TRUE(contains(error(Archive{"a.npy", array, 12}.bytes()), "method 12"));
  EXPECT_TRUE(contains(error(Archive{"a.npy", array, 0, 1}.bytes()), "'a.npy' is encrypted"));
  EXPECT_TRUE(contains(error(Archive{"a.npy", array, 0, 0, 1, 0, 5}.bytes()), "'a.npy' is damaged"));
  EXPECT_TRUE(contains(error(Archive{"a.npy", "no array"}.bytes()), "a.npy is not an .npy file"));
  expect_error([&] { write_npz(folder.file("t.npz"), {{"w", Tensor::zeros({1}, Type::bf16)}}); }, {"t.npz: w", "bf16"});
}

}  // namespace
}  // namespace saltern
