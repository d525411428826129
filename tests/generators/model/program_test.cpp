// The C program that comes with a compiled model: it reads its inputs from files, runs the model and writes .npy.

#include <gtest/gtest.h>

#include <cstring>

#include "generators/model/compile.h"
#include "tests/compiled_program.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

class Program : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new generators::TemporaryFolder;
    GraphBuilder b({2, 3});
    b.input("z", {2, 3});
    generators::CompileOptions options = {"net", folder->path(), {"sse41"}};
    options.main = options.weights_file = true;
    generators::compile_model(b.finish({b.apply("add", {"x", "z"})}), options);
    std::filesystem::rename(folder->file("net_main.c"), folder->file("main.c"));
    build_program(folder->path(), {"libnet.a"});
    write(folder->file("x.raw"), {1, 2, 3, 4, 5, 6});
    write(folder->file("z.raw"), {10, 20, 30, 40, 50, 60});
  }
  static void TearDownTestSuite() { delete folder; }

  static void write(const std::string &path, const std::vector<float> &numbers) {
    write_text(path, {reinterpret_cast<const char *>(numbers.data()), numbers.size() * sizeof(float)});
  }
  // A .npy file of version 1.
  static std::string npy(const std::string &head, const std::vector<float> &numbers) {
    std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(head.size()) + '\0' + head;
    return bytes.append(reinterpret_cast<const char *>(numbers.data()), numbers.size() * sizeof(float));
  }
  static void run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "./main");
    generators::run_program(arguments, folder->path());
  }
  static std::string complaint(const std::vector<std::string> &arguments) {
    return error_of([&] { run(arguments); });
  }
  static void expect_sums() {
    const std::string bytes = bytes_of_file(folder->file("output_0.npy"));
    ASSERT_EQ(bytes.size() % 64, 24u);  // the head is aligned; six floats follow
    EXPECT_TRUE(contains(bytes, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"));
    float sums[6];
    std::memcpy(sums, bytes.data() + bytes.size() - sizeof sums, sizeof sums);
    for (int i = 0; i < 6; ++i) EXPECT_EQ(sums[i], 11.0f * static_cast<float>(i + 1));
  }

  inline static generators::TemporaryFolder *folder = nullptr;
};

TEST_F(Program, ReadsRawFilesAndWritesNpy) {
  run({"x.raw", "z.raw", "--outputs", "."});
  expect_sums();
}

TEST_F(Program, ReadsNpyFiles) {
  write_text(folder->file("z.npy"),
             npy("{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}\n", {10, 20, 30, 40, 50, 60}));
  std::filesystem::remove(folder->file("output_0.npy"));
  run({"x.raw", "z.npy", "--outputs", ".", "--threads", "2", "--repeat", "3"});
  expect_sums();
}

TEST_F(Program, RunsOnRandomInputs) { run({"--repeat", "2"}); }

TEST_F(Program, WhatIsWrongIsNamed) {
  const std::vector<float> six(6);
  write_text(folder->file("other.npy"), npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n", six));
  write_text(folder->file("turned.npy"), npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", six));
  write_text(folder->file("flat.npy"), npy("{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }\n", six));
  write_text(folder->file("torn.npy"), npy("{'descr': '<f4', 'fortran", {}));
  write(folder->file("short.raw"), {1, 2});
  struct Case {
    std::vector<std::string> arguments;
    std::string says;
  };
  for (const Case &c : std::vector<Case>{
           {{"x.raw"}, "'z'"},
           {{"x.raw", "z.raw", "x.raw"}, "one file too many"},
           {{"x.raw", "missing.npy"}, "missing.npy"},
           {{"x.raw", "short.raw"}, "short.raw does not have the 24 bytes of the input 'z'"},
           {{"x.raw", "other.npy"}, "other.npy has elements <f8"},
           {{"x.raw", "turned.npy"}, "row-major"},
           {{"x.raw", "flat.npy"}, "takes (2, 3)"},
           {{"x.raw", "torn.npy"}, "head"},
           {{"--repeat", "none"}, "--repeat"},
           {{"--speed"}, "--speed"},
           {{"--weights", "no.weights"}, "no.weights"},
           {{"x.raw", "z.raw", "--outputs", "/no/such"}, "/no/such"},
       })
    EXPECT_TRUE(contains(complaint(c.arguments), c.says));
}

}  // namespace
}  // namespace saltern
