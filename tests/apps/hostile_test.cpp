// Files that are made to hurt get a message that names them, and an exit code: 2 for what is bad, 3 for what is not
// supported. A control file says that the program would do it.

#include <gtest/gtest.h>

#include <sys/stat.h>

#include "tests/apps/run_program.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

// Protobuf by hand: a field of bytes, and one of a number below 128.
std::string field(int number, const std::string &bytes) {
  std::string text(1, static_cast<char>(number << 3 | 2));
  size_t left = bytes.size();
  for (; left > 127; left >>= 7) text += static_cast<char>((left & 127) | 128);
  return text + static_cast<char>(left) + bytes;
}
std::string field(int number, int value) { return {static_cast<char>(number << 3), static_cast<char>(value)}; }

std::string node(const std::string &operation, const std::string &input, const std::string &output) {
  return field(1, field(1, input) + field(2, output) + field(4, operation));
}

// A tensor of f32 [2] as an input or output.
std::string value(const std::string &name) {
  const std::string shape = field(1, field(1, 2));
  return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)));
}

std::string model(const std::string &nodes) {
  return field(1, 10) + field(8, field(2, 21)) + field(7, nodes + field(11, value("x")) + field(12, value("y")));
}

class HostileFile : public testing::Test {
 protected:
  Said info(const std::string &name, const std::string &bytes) {
    return run_program("saltern", "info " + folder.write(name, bytes));
  }
  Said run(const std::string &bytes) {
    const float x[] = {-1, 2};
    const std::string data(reinterpret_cast<const char *>(x), sizeof x);
    folder.write("input_0.pb", field(1, 2) + field(2, 1) + field(9, data));
    return run_program("saltern", "run " + folder.write("model.onnx", bytes) + " --inputs " + folder.file("") +
                                      " --outputs " + folder.file("out"));
  }
  void expect(const Said &said, int code, const std::vector<std::string> &parts) {
    EXPECT_EQ(said.code, code) << said.all;
    for (const std::string &part : parts) EXPECT_TRUE(contains(said.all, part));
  }
  ScratchFolder folder;
};

TEST_F(HostileFile, ControlsAreGood) {
  expect(info("good.onnx", model(node("Relu", "x", "y"))), 0, {"Relu"});
  expect(run(model(node("Relu", "x", "y"))), 0, {});
}

TEST_F(HostileFile, DamageIsTwo) {
  const std::string good = model(node("Relu", "x", "y"));
  expect(info("cut.onnx", good.substr(0, good.size() - 1)), 2, {"cut.onnx"});
  expect(info("noise.onnx", good + "\xff\xff\xff"), 2, {"noise.onnx"});
  expect(info("extra.onnx", model(node("Relu", "x", "x"))), 2, {"extra.onnx", "'x'"});
  expect(info("cut.safetensors", std::string("\x01\0\0", 3)), 2, {"cut.safetensors"});
  expect(info("cut.idx", std::string("\0\0\x08\x03", 4)), 2, {"cut.idx"});
  expect(info("cut.png", "\x89PNG"), 2, {"cut.png"});
}

TEST_F(HostileFile, UnknownOperatorsAreThreeAndNamedAtOnce) {
  const std::string nodes = node("Frobnicate", "x", "a") + node("Mystify", "a", "y");
  expect(run(model(nodes)), 3, {"Frobnicate", "Mystify"});
}

TEST_F(HostileFile, ResultsBeyondAllMemoryAreRefusedAtOnce) {
  std::string nodes, at = "x";
  for (int i = 0; i < 70; ++i) {  // each twice as large as the one before
    const std::string next = i == 69 ? "y" : "v" + std::to_string(i);
    const std::string axis = field(1, "axis") + field(3, 0) + std::string("\xa0\x01\x02", 3);
    nodes += field(1, field(1, at) + field(1, at) + field(2, next) + field(4, "Concat") + field(5, axis));
    at = next;
  }
  expect(run(model(nodes)), 2, {"Concat", "bytes"});
}

TEST_F(HostileFile, APipeIsNoFile) {
  const std::string path = folder.file("pipe.onnx");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  expect(run_program("saltern", "run " + path + " --inputs . --outputs " + folder.file("out")), 2, {"pipe.onnx"});
}

}  // namespace
}  // namespace saltern
