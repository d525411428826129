// `saltern info FILE` tells what a file holds, and of a bad file what is wrong with it, with exit code 2.

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "runtime/tensor/npy.h"
#include "runtime/tensor/npz.h"
#include "tests/apps/run_program.h"
#include "tests/apps/small_models.h"

namespace saltern {
namespace {

using nlohmann::json;

const std::string sample = SALTERN_SOURCE_DIR "/apps/fashion_mnist/sample/";

json facts_of(const std::string &path) {
  const Said said = run_program("saltern", "info --json " + path);
  EXPECT_EQ(said.code, 0) << said.all;
  return json::parse(said.out, nullptr, false);
}

// A safetensors file, written as its format says.
std::string safetensors(const json &header, const std::string &elements) {
  const std::string text = header.dump();
  std::string file(8, '\0');
  const uint64_t length = text.size();
  std::memcpy(file.data(), &length, 8);
  return file + text + elements;
}

std::string model_of(const std::string &graph) {
  return safetensors({{"__metadata__", {{"graph", graph}}},
                      {"w", {{"dtype", "F32"}, {"shape", {2, 3}}, {"data_offsets", {0, 24}}}},
                      {"b", {{"dtype", "F32"}, {"shape", {2}}, {"data_offsets", {24, 32}}}}},
                     std::string(32, '\0'));
}

const std::string small_graph =
    "saltern graph 1\n"
    "input x f32 [5, 3]\n"
    "constant w f32 [2, 3]\n"
    "constant b f32 [2]\n"
    "node dense(x, w, b) -> h f32 [5, 2]\n"
    "node relu(h) -> y f32 [5, 2]\n"
    "output y\n";

TEST(Info, OfAModelTellsItsInputsOutputsNodesParametersAndCost) {
  const ScratchFolder folder;
  const std::string path = folder.write("net.safetensors", model_of(small_graph));
  const json facts = facts_of(path);
  EXPECT_EQ(facts["kind"], "model");
  EXPECT_EQ(facts["inputs"], json::parse(R"([{"name": "x", "type": "f32", "shape": [5, 3]}])"));
  EXPECT_EQ(facts["outputs"], json::parse(R"([{"name": "y", "type": "f32", "shape": [5, 2]}])"));
  ASSERT_EQ(facts["nodes"].size(), 2u);
  EXPECT_EQ(facts["nodes"][0]["operation"], "dense");
  EXPECT_EQ(facts["nodes"][1]["operation"], "relu");
  EXPECT_EQ(facts["tensors"].size(), 2u);
  EXPECT_EQ(facts["parameters"], 2 * 3 + 2);
  EXPECT_EQ(facts["flops"], 2 * 5 * 2 * 3);
  const Said text = run_program("saltern", "info " + path);
  for (const char *part : {"model", "x f32 [5, 3]", "dense f32 [5, 2]", "w f32 [2, 3]", "60"})
    EXPECT_TRUE(contains(text.out, part));
}

TEST(Info, OfTensorsAloneTellsThemAndTheirMetadata) {
  const ScratchFolder folder;
  const json header = {{"__metadata__", {{"step", "17"}}},
                       {"m", {{"dtype", "F64"}, {"shape", {3, 1}}, {"data_offsets", {0, 24}}}}};
  const json facts = facts_of(folder.write("state.safetensors", safetensors(header, std::string(24, '\0'))));
  EXPECT_EQ(facts["kind"], "tensors");
  EXPECT_EQ(facts["tensors"], json::parse(R"([{"name": "m", "type": "f64", "shape": [3, 1]}])"));
  EXPECT_EQ(facts["parameters"], 3);
  EXPECT_EQ(facts["metadata"], json::parse(R"([{"key": "step", "value": "17"}])"));
}

TEST(Info, OfIdxDataTellsTypeAndShapeCompressedOrNot) {
  const json pictures = facts_of(sample + "t10k-images-idx3-ubyte.gz"),
             labels = facts_of(sample + "t10k-labels-idx1-ubyte.gz");
  EXPECT_EQ(pictures["kind"], "idx");
  EXPECT_EQ(pictures["type"], "u8");
  ASSERT_EQ(pictures["shape"].size(), 3u);
  EXPECT_EQ(pictures["shape"][1], 28);
  EXPECT_EQ(pictures["shape"][0], labels["shape"][0]);
  const ScratchFolder folder;
  const std::string plain(
      "\0\0\x08\x02\0\0\0\x02\0\0\0\x03"
      "abcdef",
      18);
  EXPECT_EQ(facts_of(folder.write("six.idx", plain))["shape"], json({2, 3}));
}

TEST(Info, OfAPictureTellsItsSize) {
  const json facts = facts_of(sample + "pictures/bag.png");
  EXPECT_EQ(facts["kind"], "png");
  EXPECT_EQ(facts["width"], 28);
  EXPECT_EQ(facts["height"], 28);
}

TEST(Info, OfAModelTellsTheMemoryThatItNeedsWhenCompiled) {
  const ScratchFolder folder;
  const json facts = facts_of(folder.write("net.safetensors", model_of(small_graph)));
  EXPECT_GE(facts["weights_bytes"], 4 * (2 * 3 + 2));
  EXPECT_GE(facts["workspace_bytes"], 4 * 5 * (3 + 2));
  EXPECT_EQ(facts["steps"], 1);  // dense and relu are one kernel
  EXPECT_EQ(facts["largest_values"], json::parse(R"([{"name": "y", "shape": [5, 2], "bytes": 40}])"));
}

// Adam keeps two numbers for each of the eight parameters, and counts its steps.
TEST(Info, TellsTheMemoryOfATrainingStep) {
  const ScratchFolder folder;
  const std::string net = folder.write("net.safetensors", model_of(small_graph));
  const json training = facts_of(net + " --train --batch 5 --loss mse --optimizer adam").at("training");
  EXPECT_GE(training["state_bytes"], 3 * 4 * 8);
  EXPECT_EQ(training["batch_bytes"], 4 * 5 * (3 + 2));
  EXPECT_GE(training["peak_bytes"], training["state_bytes"].get<int>() + 4 * 5 * (3 + 2) + 4 * 5 * 2);
  EXPECT_GT(training["steps"], 1);
  for (const std::string wrong : {"--batch 5", "--train --batch 4 --loss mse", "--train --batch 5 --memory 1MB"})
    EXPECT_EQ(run_program("saltern", "info " + net + " " + wrong).code, 2) << wrong;
}

TEST(Info, OfNumpyFilesTellsArraysTypesAndShapes) {
  const ScratchFolder folder;
  const Tensor t = Tensor::zeros({2, 3}, Type::i64);
  write_npy(folder.file("a.npy"), t);
  write_npz(folder.file("b.npz"), {{"first", t}, {"second", Tensor::zeros({4})}});
  EXPECT_EQ(facts_of(folder.file("a.npy")), json::parse(R"({"kind": "npy", "type": "i64", "shape": [2, 3]})"));
  const json both = facts_of(folder.file("b.npz"));
  EXPECT_EQ(both["elements"], 10);
  EXPECT_EQ(both["arrays"][1], json::parse(R"({"name": "second", "type": "f32", "shape": [4]})"));
}

TEST(Info, DrawsAModelAsItIsOptimisedAndLowered) {
  const ScratchFolder folder;
  Model model = scores_model();
  model.graph.nodes.insert(model.graph.nodes.begin(), {"Identity", {}, {"x"}, {"same"}});
  model.graph.nodes[1].inputs[0] = "same";
  const std::string path = folder.file("model.onnx"), svg = folder.file("model.svg"), dot = folder.file("model.dot");
  save_onnx(path, model);
  const auto drawn = [&](const std::string &arguments) {
    const Said said = run_program("saltern", "info " + path + " --svg " + svg + " --dot " + dot + " " + arguments);
    EXPECT_EQ(said.code, 0) << said.all;
    return bytes_of_file(svg) + bytes_of_file(dot);
  };
  const std::string plain = drawn(""), optimised = drawn("--optimised"), lowered = drawn("--lowered --shape x=2,3");
  EXPECT_TRUE(contains(plain, ">Identity<"));
  EXPECT_TRUE(contains(plain, "\"Identity"));
  EXPECT_EQ(optimised.find("Identity"), std::string::npos);
  EXPECT_TRUE(contains(optimised, ">MatMul<"));
  EXPECT_TRUE(contains(lowered, ">matmul<"));
  EXPECT_TRUE(contains(lowered, ">2 x 4<"));
  // Without a shape nothing can be lowered; without a model nothing can be drawn.
  EXPECT_EQ(run_program("saltern", "info " + path + " --lowered --svg " + svg).code, 2);
  EXPECT_EQ(run_program("saltern", "info " + sample + "pictures/bag.png --svg " + svg).code, 2);
}

TEST(Info, WithShapesThatAModelLeavesOpenTellsItsCost) {
  const ScratchFolder folder;
  const std::string path = folder.file("model.onnx");
  save_onnx(path, scores_model());
  EXPECT_TRUE(contains(facts_of(path)["not_lowered"].get<std::string>(), "(batch)"));
  const json facts = facts_of(path + " --shape x=5,3");
  EXPECT_EQ(facts["flops"], 2 * 5 * 3 * 4);
  EXPECT_GE(facts["workspace_bytes"], 4 * 5 * (3 + 4));
}

TEST(Info, ABadFileIsBadInputThatIsNamed) {
  const ScratchFolder folder;
  std::string cycle = small_graph;
  cycle.replace(cycle.find("dense(x"), 7, "dense(y");
  const std::string picture = bytes_of_file(sample + "pictures/bag.png");
  for (const auto &[name, bytes] : std::vector<std::pair<std::string, std::string>>{
           {"empty.safetensors", ""},
           {"huge.safetensors", std::string(8, '\x7f')},
           {"short.safetensors", model_of(small_graph).substr(0, 200)},
           {"cycle.safetensors", model_of(cycle)},
           {"other.safetensors", model_of("some other text")},
           {"empty.png", ""},
           {"short.png", picture.substr(0, picture.size() / 2)},
           {"text.png", "no picture"},
           {"empty-ubyte", ""},
           {"short.idx", std::string("\0\0\x08\x01\0\0\0\x09"
                                     "abc",
                                     11)},
           {"plain-ubyte.gz", "not compressed"},
           {"empty.npy", ""},
           {"text.npy", "no array"},
           {"short.npz", "PK\x05\x06"},
           {"readme.txt", "text"},
       }) {
    const std::string path = folder.write(name, bytes);
    for (const char *json_or_not : {"", "--json "}) {
      const Said said = run_program("saltern", std::string("info ") + json_or_not + path);
      EXPECT_EQ(said.code, 2) << name << ": " << said.all;
      EXPECT_EQ(said.out, "") << name;
      EXPECT_TRUE(contains(said.all, path));
    }
  }
}

}  // namespace
}  // namespace saltern
