// `saltern verify` compares expected outputs, library kernels, compiled kernels and plain formulas; exit code 1 is for
// differences only, and says where the first one is.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/graph/model_file.h"
#include "runtime/tensor/npz.h"
#include "tests/apps/run_program.h"
#include "tests/apps/small_models.h"

namespace saltern {
namespace {

using nlohmann::json;

class Verify : public testing::Test {
 protected:
  Verify() { save_onnx(model, scores_model()); }

  Said verify(const std::string &arguments) {
    return run_program("saltern", "verify --threads 1 " + arguments, "SALTERN_CACHE=" + folder.file("cache"));
  }

  const ScratchFolder folder;
  const std::string model = folder.file("model.onnx"), data = folder.file("data.npz");
  const Tensor x = counting({2, 3}, 0.5), b = counting({4});
};

TEST_F(Verify, ExpectedOutputsOfAnArchiveAreGood) {
  write_npz(data, {{"x", x}, {"b", b}, {"scores", scores_of(x, b)}});
  const Said said = verify(model + " " + data + " --no-compiled");
  EXPECT_EQ(said.code, 0) << said.all;
  EXPECT_TRUE(contains(said.out, "good: 1 comparison"));
}

TEST_F(Verify, ADifferenceIsExitCodeOneAndToldWithItsPlace) {
  const Tensor scores = scores_of(x, b);
  const float right = scores.at<float>({1, 2});
  scores.at<float>({1, 2}) += 0.5F;
  write_npz(data, {{"in_0", x}, {"in_1", b}, {"out:scores", scores}});
  const std::string call = model + " " + data + " --no-compiled";
  const Said said = verify(call);
  EXPECT_EQ(said.code, 1);
  EXPECT_TRUE(contains(said.out, "'scores' (Add)"));
  EXPECT_TRUE(contains(said.out, "element [1, 2]"));
  EXPECT_TRUE(contains(said.out, "1 of 8"));
  const json line = json::parse(verify(call + " --json").out), row = line["values"][0];
  EXPECT_EQ(line["good"], false);
  EXPECT_EQ(line["first_difference"], "scores");
  EXPECT_NEAR(row["largest_difference"].get<double>(), 0.5, 1e-5);
  EXPECT_NEAR(row["got"].get<double>(), right, 1e-5);
  EXPECT_EQ(row["first_wrong"], json({1, 2}));
  EXPECT_EQ(verify(call + " --atol 0.6").code, 0);
}

TEST_F(Verify, OtherShapesAndNaNAreDifferences) {
  write_npz(data, {{"x", x}, {"b", b}, {"scores", Tensor::zeros({2, 5})}});
  const Said shape = verify(model + " " + data + " --no-compiled");
  EXPECT_EQ(shape.code, 1);
  EXPECT_TRUE(contains(shape.out, "f32 [2, 5] and f32 [2, 4]"));
  const Tensor scores = scores_of(x, b);
  scores.at<float>({0, 0}) = std::numeric_limits<float>::quiet_NaN();
  write_npz(data, {{"x", x}, {"b", b}, {"scores", scores}});
  EXPECT_EQ(verify(model + " " + data + " --no-compiled").code, 1);
}

TEST_F(Verify, BadDataIsExitCodeTwo) {
  write_npz(data, {{"x", x}, {"b", b}});
  const Said without = verify(model + " " + data + " --no-compiled");
  EXPECT_EQ(without.code, 2);
  EXPECT_TRUE(contains(without.all, "scores f32 [batch, 4]"));
  EXPECT_EQ(verify(model + " " + folder.file("absent")).code, 2);
  const Said nothing = verify(model + " --no-compiled");
  EXPECT_EQ(nothing.code, 2);
  EXPECT_TRUE(contains(nothing.all, "nothing to compare with"));
}

TEST_F(Verify, PlainFormulasAreAPathOfTheirOwnLayerByLayer) {
  const std::string net = folder.file("net.safetensors");
  save_model(net, small_net());
  const Said said = verify(net + " --plain --layers --no-compiled --json");
  ASSERT_EQ(said.code, 0) << said.all;
  const json rows = json::parse(said.out)["values"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["value"], "h");
  EXPECT_EQ(rows[0]["operation"], "dense");
  EXPECT_EQ(rows[1]["value"], "y");
  for (const json &row : rows) EXPECT_EQ(row["paths"], "plain, library");
}

TEST_F(Verify, AllPathsAgreeOnAModelThatIsCompiled) {
  write_npz(data, {{"x", x}, {"b", b}, {"scores", scores_of(x, b)}});
  const Said said = verify(model + " " + data + " --plain --layers --json");
  ASSERT_EQ(said.code, 0) << said.all;
  const json rows = json::parse(said.out)["values"];
  std::map<std::string, int> paths;
  for (const json &row : rows) ++paths[row["paths"]];
  EXPECT_EQ(paths["expected, library"], 1);
  EXPECT_EQ(paths["library, exact and fused"], 1);
  EXPECT_GE(paths["library, exact"], 2);
  EXPECT_EQ(paths["plain, library"], paths["library, exact"]);
}

}  // namespace
}  // namespace saltern
