// Constants in files beside the model: what is written comes back, more than 2 GB too and at once, and nothing outside
// the model's folder is read, whatever the model says.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>

#include "runtime/onnx/export.h"
#include "tests/onnx_file.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

namespace fs = std::filesystem;

// y = w, whose elements stand at `location`.
onnx::ModelProto external_file(const std::string &location, const Shape &shape,
                               const std::vector<std::pair<std::string, std::string>> &more = {}) {
  onnx::ModelProto p = empty_file();
  onnx::TensorProto &w = *p.mutable_graph()->add_initializer();
  w.set_name("w");
  w.set_data_type(onnx::TensorProto::FLOAT);
  for (int64_t e : shape) w.add_dims(e);
  w.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto set = [&](const std::string &key, const std::string &value) {
    auto &entry = *w.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  set("location", location);
  for (const auto &[key, value] : more) set(key, value);
  add_node(*p.mutable_graph(), "Identity", {"w"}, {"y"});
  return p;
}

TEST(ExternalData, NothingOutsideTheFolderIsRead) {
  const ScratchFolder outside;
  outside.write("secret", std::string(64, 's'));
  fs::create_directory(outside.file("model"));
  const std::string folder = outside.file("model");
  fs::create_symlink("../secret", folder + "/link");
  fs::create_symlink("..", folder + "/up");
  ASSERT_EQ(mkfifo((folder + "/pipe").c_str(), 0600), 0);
  outside.write("model/good", std::string(64, 'g'));
  EXPECT_EQ(decoded(external_file("good", {16}), folder).graph.value("w").constant.size(), 16);
  const std::vector<std::string> bad = {"../secret",
                                        "./up/../../secret",
                                        "link",
                                        "up/secret",
                                        "pipe",
                                        ".",
                                        "",
                                        outside.file("secret"),
                                        "/dev/zero",
                                        "absent",
                                        "file:///etc/hostname",
                                        std::string("good\0../secret", 14)};
  for (const std::string &location : bad)
    expect_error([&] { decoded(external_file(location, {16}), folder); }, {"file", "'w'"});
}

TEST(ExternalData, ClaimsAreHeldAgainstTheFile) {
  const ScratchFolder folder;
  const std::string here = fs::path(folder.write("good", std::string(64, 'g'))).parent_path().string();
  const auto refused = [&](const std::vector<std::pair<std::string, std::string>> &more) {
    expect_error([&] { decoded(external_file("good", {16}, more), here); }, {"'w'"});
  };
  EXPECT_NO_THROW(decoded(external_file("good", {8}, {{"offset", "32"}, {"length", "32"}}), here));
  refused({{"offset", "4"}});
  refused({{"offset", "-64"}});
  refused({{"offset", "18446744073709551584"}, {"length", "64"}});
  refused({{"offset", "ten"}});
  refused({{"length", "8"}});
  refused({{"length", "4611686018427387904"}});
  expect_error([&] { decoded(external_file("good", {int64_t{1} << 40}), here); }, {"'w'"});
}

// The most memory that this process has had, in bytes.
int64_t peak_memory() {
  struct rusage use = {};
  getrusage(RUSAGE_SELF, &use);
  return int64_t{use.ru_maxrss} * 1024;
}

TEST(ExternalData, MoreThanTwoGigabytesAreThereAtOnce) {
  const ScratchFolder folder;
  const int64_t count = (int64_t{21} << 30) / 40;  // 2.1 GB of f32
  const std::string path = folder.write("weights", "");
  fs::resize_file(path, static_cast<uint64_t>(count) * 4);  // a hole: the disk holds nothing of it
  {
    const float last = 7;
    std::fstream out(path, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp((count - 1) * 4);
    out.write(reinterpret_cast<const char *>(&last), 4);
  }
  const int64_t before = peak_memory();
  const auto begin = std::chrono::steady_clock::now();
  const Model m = decoded(external_file("weights", {count}), fs::path(path).parent_path().string());
  const Tensor w = m.graph.value("w").constant;
  EXPECT_EQ(w.at<float>({0}), 0);
  EXPECT_EQ(w.at<float>({count - 1}), 7);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_LT(peak_memory() - before, int64_t{256} << 20);
  w.at<float>({0}) = 5;  // changes this process's copy
  EXPECT_EQ(decoded(external_file("weights", {count}), fs::path(path).parent_path().string())
                .graph.value("w")
                .constant.at<float>({0}),
            0);
}

TEST(ExternalData, IsWrittenWhereAFileCannotHoldIt) {
  const ScratchFolder folder;
  Model m;
  m.ir_version = 10;
  m.opsets[""] = 21;
  std::vector<float> values(3000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 7;
  m.graph.add_constant("large", Tensor::of<float>({1000, 3}, values));
  m.graph.add_constant("packed", Tensor::full({3000}, 5, Type::i4));
  m.graph.add_constant("small", Tensor::of<float>({2}, {1, 2}));
  m.graph.nodes = {{"Identity", {}, {"large"}, {"y"}}};
  m.graph.outputs = {"y"};
  m.graph.values["y"] = {{1000, 3}, Type::f32};
  const std::string path = folder.file("model.onnx");
  save_onnx(path, m, SaveOptions{1000});
  EXPECT_LT(fs::file_size(path), 1000u);
  EXPECT_GE(fs::file_size(path + ".data"), 12000u);
  const Model back = load_onnx(path);
  for (const char *name : {"large", "packed", "small"})
    EXPECT_TRUE(is_same(Attribute(back.graph.value(name).constant), Attribute(m.graph.value(name).constant))) << name;
  save_onnx(folder.file("whole.onnx"), m);
  EXPECT_FALSE(fs::exists(folder.file("whole.onnx.data")));
}

}  // namespace
}  // namespace saltern
