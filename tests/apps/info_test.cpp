// `saltern info FILE` tells what a file holds, and of a bad file what is wrong with it, with exit code 2.

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/apps/run_program.h"
#include "tests/scratch_folder.h"

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
  for (const char *part : {"model", "x f32 [5,3]", "dense f32 [5,2]", "w f32 [2,3]", "60"})
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
