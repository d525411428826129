// Every command gives one fault one exit code, and names the culprit: 2 for bad usage, files and folders, 3 for what is
// not supported.

#include <gtest/gtest.h>

#include <filesystem>

#include "runtime/graph/model_file.h"
#include "runtime/tensor/npz.h"
#include "tests/apps/run_program.h"
#include "tests/apps/small_models.h"

namespace saltern {
namespace {

class ExitCodes : public testing::Test {
 protected:
  ExitCodes() {
    save_onnx(onnx, identity_model({2, 3}));
    save_model(net, small_net());
    write_npz(data, {{"image", counting({2, 3})}});
    folder.write("file", "");
  }

  // A call of each command on a model.
  std::vector<std::string> commands(const std::string &model) const {
    return {"info " + model,
            "run " + model + " --inputs " + data,
            "verify " + model,
            "bench " + model + " --seconds 0.01",
            "bench " + model + " --compiled --seconds 0.01",
            "compile " + model + " -o " + folder.file("out"),
            "convert " + model + " -o " + folder.file("out.onnx")};
  }

  void expect(int code, const std::string &arguments, const std::string &culprit) const {
    const Said said = run_program("saltern", arguments, before + "SALTERN_CACHE=" + folder.file("cache"));
    EXPECT_EQ(said.code, code) << arguments << ": " << said.all;
    EXPECT_TRUE(contains(said.all, culprit)) << arguments;
    if (code != 0) {
      EXPECT_EQ(said.out, "") << arguments;
    }
  }

  const ScratchFolder folder;
  const std::string onnx = folder.file("model.onnx"), net = folder.file("net.safetensors"),
                    data = folder.file("data.npz"), not_a_folder = folder.file("file") + "/x";
  std::string before;
};

TEST_F(ExitCodes, AFileThatIsNotThereIsTwo) {
  for (const char *name : {"absent.onnx", "absent.safetensors", "absent"})
    for (const std::string &c : commands(folder.file(name))) expect(2, c, folder.file(name));
}

TEST_F(ExitCodes, ATruncatedFileIsTwo) {
  for (const std::string &whole : {onnx, net}) {
    const std::string bytes = bytes_of_file(whole);
    for (const size_t size : {bytes.size() / 2, bytes.size() - 1, size_t{0}}) {
      const std::string part = folder.write("part_" + whole.substr(whole.rfind('/') + 1), bytes.substr(0, size));
      for (const std::string &c : commands(part)) expect(2, c, part);
    }
  }
}

TEST_F(ExitCodes, ATextIsTwoAndCalledOneWhateverItsName) {
  for (const char *name : {"text.onnx", "text.safetensors", "text", "text.npy"}) {
    const std::string text = folder.write(name, "Dear reader,\nthis is no model.\n");
    for (const std::string &c : commands(text)) expect(2, c, text + " is");
    expect(2, "run " + text + " --inputs " + data, "a text");
  }
}

TEST_F(ExitCodes, AModelIsKnownByItsContentWhateverItsName) {
  const std::string renamed = folder.write("renamed.bin", bytes_of_file(net));
  expect(0, "info " + renamed, "dense");
  expect(0, "verify " + renamed + " --no-compiled --plain", "good");
  const std::string array = folder.write("array.onnx", bytes_of_file(data));
  expect(2, "run " + array + " --inputs " + data, "a ZIP archive");
}

TEST_F(ExitCodes, AWrongShapeIsTwo) {
  const std::string wrong = folder.file("wrong.npz");
  write_npz(wrong, {{"image", counting({2, 4})}, {"same", counting({2, 4})}});
  for (const char *options : {"", " --compiled"}) expect(2, "run " + onnx + " --inputs " + wrong + options, "[2, 4]");
  expect(2, "verify " + onnx + " " + wrong, "[2, 4]");
  for (const std::string &c : commands(onnx))
    if (c.rfind("run", 0) != 0 && c.rfind("convert", 0) != 0) expect(2, c + " --shape image=2,4", "[2, 4]");
}

TEST_F(ExitCodes, AnUnknownOptionIsTwo) {
  for (const std::string &c : commands(onnx)) expect(2, c + " --nonsense", "--nonsense");
}

TEST_F(ExitCodes, ExactConvolutionsAreForWhatIsCompiled) {
  const std::string option = " --exact-convolutions";
  expect(2, "run " + onnx + " --inputs " + data + option, "--compiled");
  expect(2, "bench " + onnx + option, "--compiled");
  expect(2, "verify " + onnx + " --no-compiled --plain" + option, "--no-compiled");
  expect(0, "bench " + onnx + " --compiled --seconds 0.01" + option, "");
  expect(0, "verify " + onnx + option, "good");
}

TEST_F(ExitCodes, AnOutputThatCannotBeWrittenIsTwo) {
  expect(2, "info " + onnx + " --svg " + not_a_folder, not_a_folder);
  expect(2, "run " + onnx + " --inputs " + data + " --outputs " + not_a_folder, not_a_folder);
  expect(2, "run " + onnx + " --inputs " + data + " --outputs " + not_a_folder + ".npz", not_a_folder);
  expect(2, "bench " + onnx + " --seconds 0.01 --trace " + not_a_folder, not_a_folder);
  expect(2, "compile " + onnx + " -o " + not_a_folder, not_a_folder);
  expect(2, "convert " + onnx + " -o " + not_a_folder, not_a_folder);
  expect(2, "tune matmul 8 8 8 --trials 1 --database " + not_a_folder, not_a_folder);
}

TEST_F(ExitCodes, ABadListOfModelsIsTwo) {
  expect(2, "run-batch " + folder.file("absent"), folder.file("absent"));
  expect(2, "run-batch " + folder.file("."), folder.file("."));
  expect(2, "run-batch " + folder.write("list", "one word\n"), "one word");
}

TEST_F(ExitCodes, BadSettingsInTheEnvironmentAreTwo) {
  before = "SALTERN_THREADS=none ";
  for (const std::string &c : commands(onnx)) expect(2, c, "SALTERN_THREADS");
}

TEST_F(ExitCodes, AnOperatorThatIsNotSupportedIsThree) {
  Model model = identity_model({2, 3});
  model.graph.nodes[0].operation = "NoSuchOperator";
  const std::string path = folder.file("unsupported.onnx");
  save_onnx(path, model);
  for (const std::string &c : commands(path)) {
    // What only reads or copies a model needs no operator.
    const bool reads = c.rfind("info", 0) == 0 || c.rfind("convert", 0) == 0;
    expect(reads ? 0 : 3, c, reads ? "" : "NoSuchOperator");
  }
  expect(3, "info " + path + " --lowered --svg " + folder.file("out.svg"), "NoSuchOperator");
}

// Its header, its library and its functions would stand in the place of the system's.
TEST_F(ExitCodes, ANameOfTheSystemIsNoNameOfAModel) {
  for (const auto &[name, owner] : {std::pair("pthread", "prefix pthread"), std::pair("string", "string.h"),
                                    std::pair("saltern_pool_1", "saltern_pool"), std::pair("timer", "timer_")})
    expect(2, "compile " + onnx + " -o " + folder.file("out") + " --name " + name, owner);
  const std::string taken = folder.file("time.onnx");  // a name of a file is only where it comes from
  std::filesystem::copy_file(onnx, taken);
  const Said said = run_program("saltern", "compile " + taken + " --json -o " + folder.file("out"),
                                "SALTERN_CACHE=" + folder.file("cache"));
  EXPECT_EQ(said.code, 0) << said.all;
  EXPECT_TRUE(contains(said.out, "\"model_time\"")) << said.out;
}

TEST_F(ExitCodes, OptionsThatSayNothingAreTwo) {
  const std::string run = "run " + onnx + " --inputs " + data;
  expect(2, run + " --resize 8", "--resize: the inputs are arrays");
  expect(2, run + " --bgr", "--bgr: the inputs are arrays");
  expect(2, run + " --format npy", "--format");
  expect(2, run + " --format npy --outputs " + folder.file("out.npz"), "--format");
}

}  // namespace
}  // namespace saltern
