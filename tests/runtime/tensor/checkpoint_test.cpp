// Checkpoints come back bit for bit, agree with bytes laid out by hand from the safetensors specification, and hostile
// files give errors that name the file, the tensor and the fault.

#include "runtime/tensor/checkpoint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/scratch_folder.h"

namespace saltern {
namespace {

// The format by hand: length, header, data.
std::string safetensors(const std::string &header, const std::string &data) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += static_cast<char>(static_cast<uint64_t>(header.size()) >> (8 * i));
  return text + header + data;
}

template <typename T>
std::string bytes(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
}

std::string bytes(const Tensor &t) {
  const Tensor dense = t.in_layout(Layout::row_major);
  return {static_cast<const char *>(dense.raw()), dense.bytes()};
}

Tensor counting(const Shape &shape, Type type, Layout layout = Layout::row_major) {
  const Tensor t = Tensor::empty(shape, type, layout);
  auto *at = static_cast<uint8_t *>(t.raw());
  for (size_t i = 0; i < t.bytes(); ++i) at[i] = static_cast<uint8_t>(type == Type::boolean ? i % 2 : i * 5 + 1);
  return t;
}

class CheckpointFile : public testing::Test {
 protected:
  std::string error(const std::string &contents, const LoadOptions &options = {}) {
    const std::string path = folder.write("model.safetensors", contents);
    const std::string text = error_of([&] { load_checkpoint(path, options); });
    EXPECT_TRUE(contains(text, path));
    return text;
  }
  ScratchFolder folder;
};

TEST_F(CheckpointFile, EveryTypeAndShapeComesBackBitForBit) {
  Checkpoint saved;
  for (const TypeFacts &f : all_types())
    if (!f.safetensors_name.empty())
      for (const Shape &shape : {Shape{}, Shape{1}, Shape{0, 3}, Shape{7}, Shape{3, 1, 5}, Shape{2, 3, 4, 5}})
        saved.tensors[std::string(f.name) + to_string(shape)] = counting(shape, f.type);
  saved.metadata = {{"epoch", "3"}, {"unicode", "größe ∂"}, {"empty", ""}, {"quote", "\"\\\n"}};
  const std::string path = folder.file("all");
  save_checkpoint(path, saved);
  const Checkpoint loaded = load_checkpoint(path);
  EXPECT_EQ(loaded.metadata, saved.metadata);
  ASSERT_EQ(loaded.tensors.size(), saved.tensors.size());
  for (const auto &[name, t] : saved.tensors) {
    const Tensor &l = loaded.expect(name, t.shape(), t.type());
    EXPECT_EQ(bytes(l), bytes(t)) << name;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(l.raw()) % 64, 0U);
  }
  EXPECT_EQ(folder.count(), 1U) << "a temporary file was left";
}

TEST_F(CheckpointFile, HoldsTheBytesThatTheFormatPrescribes) {
  Checkpoint c;
  c.tensors["w"] = Tensor::of<float>({2, 1}, {1.5F, -2});
  c.tensors["a"] = Tensor::of<uint8_t>({3}, {7, 8, 9});
  c.metadata["k"] = "v";
  save_checkpoint(folder.file("f"), c);
  std::string header = R"({"__metadata__":{"k":"v"},"a":{"data_offsets":[8,11],"dtype":"U8","shape":[3]},)"
                       R"("w":{"data_offsets":[0,8],"dtype":"F32","shape":[2,1]}})";
  while (header.size() % 8 != 0) header += ' ';
  EXPECT_EQ(bytes_of_file(folder.file("f")), safetensors(header, bytes<float>({1.5F, -2}) + bytes<uint8_t>({7, 8, 9})));
}

TEST_F(CheckpointFile, ReadsBytesWrittenByHand) {
  const std::string header = R"({"x":{"dtype":"I64","shape":[2],"data_offsets":[4,20]},)"
                             R"("half":{"dtype":"BF16","shape":[],"data_offsets":[2,4]},)"
                             R"("flags":{"dtype":"BOOL","shape":[1,2],"data_offsets":[0,2]}}   )";
  const Checkpoint c = load_checkpoint(
      folder.write("f", safetensors(header, std::string("\1\0\x80\x3f", 4) + bytes<int64_t>({-5, int64_t{1} << 40}))));
  EXPECT_TRUE(c.metadata.empty());
  EXPECT_EQ(c.tensors.at("x").at<int64_t>({0}), -5);
  EXPECT_EQ(c.tensors.at("x").at<int64_t>({1}), int64_t{1} << 40);
  EXPECT_EQ(c.tensors.at("half").shape(), Shape{});
  EXPECT_EQ(bytes(c.tensors.at("half")), "\x80\x3f");
  EXPECT_TRUE(c.tensors.at("flags").at<bool>({0, 0}));
  EXPECT_FALSE(c.tensors.at("flags").at<bool>({0, 1}));
}

TEST_F(CheckpointFile, LayoutStaysInsideThePublicOrderIsSaved) {
  const Tensor inside = counting({2, 3, 4, 5}, Type::f32, Layout::channels_last);
  const Tensor part = counting({6, 7}, Type::i32).slice(1, 2, 3);
  Checkpoint c;
  c.tensors = {{"inside", inside}, {"part", part}};
  save_checkpoint(folder.file("f"), c);
  const Checkpoint loaded = load_checkpoint(folder.file("f"));
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t ch = 0; ch < 3; ++ch)
      EXPECT_EQ(loaded.tensors.at("inside").at<float>({n, ch, 1, 4}), inside.at<float>({n, ch, 1, 4}));
  EXPECT_EQ(loaded.tensors.at("part").at<int32_t>({5, 2}), part.at<int32_t>({5, 2}));
}

TEST_F(CheckpointFile, FailureToSaveKeepsTheOldFile) {
  const std::string path = folder.write("f", "old");
  Checkpoint c;
  c.tensors["\xff not UTF-8"] = Tensor::zeros({1});
  EXPECT_TRUE(contains(error_of([&] { save_checkpoint(path, c); }), path));
  c.tensors = {{"undefined", Tensor()}};
  EXPECT_TRUE(contains(error_of([&] { save_checkpoint(path, c); }), "'undefined'"));
  c.tensors = {{"__metadata__", Tensor::zeros({1})}};
  EXPECT_TRUE(contains(error_of([&] { save_checkpoint(path, c); }), "__metadata__"));
  EXPECT_EQ(bytes_of_file(path), "old");
  EXPECT_EQ(folder.count(), 1U);
  EXPECT_TRUE(contains(error_of([&] { save_checkpoint(folder.file("no/where"), {}); }), "no/where"));
}

TEST_F(CheckpointFile, ExpectNamesWhatDiffers) {
  Checkpoint c;
  c.tensors["w"] = Tensor::zeros({2, 3});
  EXPECT_TRUE(contains(error_of([&] { c.expect("v", {2, 3}); }), "no tensor 'v'"));
  const std::string text = error_of([&] { c.expect("w", {3, 2}); });
  EXPECT_TRUE(contains(text, "[2, 3]"));
  EXPECT_TRUE(contains(text, "[3, 2]"));
}

TEST_F(CheckpointFile, TruncationAnywhereIsAnError) {
  Checkpoint c;
  c.tensors = {{"a", counting({3, 5}, Type::f32)}, {"b", counting({2}, Type::u8)}};
  save_checkpoint(folder.file("good"), c);
  const std::string good = bytes_of_file(folder.file("good"));
  for (size_t n = 0; n < good.size(); ++n) error(good.substr(0, n));
}

TEST_F(CheckpointFile, HugeHeadersAreRefusedBeforeAllocation) {
  EXPECT_TRUE(contains(error(std::string(7, '\xff') + "\x7f{}"), "claims a header"));
  EXPECT_TRUE(contains(error(std::string("\x40\x42\x0f\0\0\0\0\0{}", 10)), "claims a header of 1000000 bytes"));
  EXPECT_TRUE(contains(error(safetensors(std::string(5'000'000, '['), "")), "nested too deeply"));
}

struct Fault {
  const char *header, *message;
};

TEST_F(CheckpointFile, EveryFaultOfTheHeaderIsNamed) {
  const Fault faults[] = {
      {"{", "not valid JSON"},
      {"{\"a\":\xff}", "not valid JSON"},
      {"[]", "not an object"},
      {"", "not valid JSON"},
      {R"({"a":3})", "tensor 'a': its description"},
      {R"({"a":{"shape":[4],"data_offsets":[0,4]}})", "dtype is missing"},
      {R"({"a":{"dtype":"F8_E3M4","shape":[4],"data_offsets":[0,4]}})", "'F8_E3M4' is not supported"},
      {R"({"a":{"dtype":7,"shape":[4],"data_offsets":[0,4]}})", "dtype is missing"},
      {R"({"a":{"dtype":"U8","data_offsets":[0,4]}})", "shape is missing"},
      {R"({"a":{"dtype":"U8","shape":[-4],"data_offsets":[0,4]}})", "shape holds -4"},
      {R"({"a":{"dtype":"U8","shape":[4.0],"data_offsets":[0,4]}})", "shape holds 4.0"},
      {R"({"a":{"dtype":"U8","shape":["\u0000"],"data_offsets":[0,4]}})", "shape holds"},
      {R"({"a":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,4]}})", "shape holds"},
      {R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,4]}})", "too large"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]}})", "too large"},
      {R"({"a":{"dtype":"U8","shape":[4]}})", "data_offsets is missing"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4,4]}})", "not an array of two"},
      {R"({"a":{"dtype":"U8","shape":[5],"data_offsets":[0,5]}})", "outside the file"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[4,0]}})", "outside the file"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,9223372036854775807]}})", "outside the file"},
      {R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,4]}})", "needs 3 bytes"},
      {R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
       "tensor 'b' overlaps"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[3,4]}})",
       "bytes 1 to 3 belong to no tensor"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "last 3 bytes belong to no tensor"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
       "'a' appears twice"},
      {R"({"a":{"dtype":"BOOL","shape":[4],"data_offsets":[0,4]}})", "not a truth value"},
      {R"({"__metadata__":[]})", "__metadata__ is not an object"},
      {R"({"__metadata__":{"epoch":3}})", "metadata 'epoch' is not a string"},
  };
  for (const Fault &f : faults) EXPECT_TRUE(contains(error(safetensors(f.header, "\1\2\3\4")), f.message)) << f.header;
}

TEST_F(CheckpointFile, NotANumberIsFoundOnRequestOnly) {
  LoadOptions finite;
  finite.expect_finite = true;
  const Fault types[] = {
      {"F32", "\0\0\x80\x7f"}, {"F16", "\0\x7c"}, {"BF16", "\xc0\xff"}, {"F64", "\0\0\0\0\0\0\xf8\x7f"}};
  for (const auto &[name, bad] : types) {
    const size_t width = name == std::string("F64") ? 8 : name == std::string("F32") ? 4 : 2;
    std::string data(6 * width, '\0');
    data.replace(5 * width, width, bad, width);
    const std::string header = std::string(R"({"w":{"dtype":")") + name + R"(","shape":[2,3],"data_offsets":[0,)" +
                               std::to_string(6 * width) + "]}}";
    const std::string text = error(safetensors(header, data), finite);
    EXPECT_TRUE(contains(text, "tensor 'w'"));
    EXPECT_TRUE(contains(text, "[1, 2] is not finite"));
    EXPECT_NO_THROW(load_checkpoint(folder.file("model.safetensors")));
  }
}

TEST_F(CheckpointFile, InfinitiesAreNumbersWhereThatIsAskedFor) {
  LoadOptions numbers;
  numbers.expect_numbers = true;
  for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::f64}) {
    Checkpoint c;
    const double infinity = std::numeric_limits<double>::infinity();
    c.tensors["mask"] = Tensor::full({2, 3}, -infinity, type);
    save_checkpoint(folder.file("mask.safetensors"), c);
    EXPECT_EQ(load_checkpoint(folder.file("mask.safetensors"), numbers).tensors.at("mask").reals()[5], -infinity);
    c.tensors["mask"] = Tensor::full({2, 3}, std::numeric_limits<double>::quiet_NaN(), type);
    save_checkpoint(folder.file("mask.safetensors"), c);
    EXPECT_TRUE(contains(error_of([&] { load_checkpoint(folder.file("mask.safetensors"), numbers); }),
                         "tensor 'mask': the element at [0, 0] is not a number"));
  }
}

}  // namespace
}  // namespace saltern
