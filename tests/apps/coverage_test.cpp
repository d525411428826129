// `saltern coverage`: which names of other frameworks are here.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/apps/run_program.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

using nlohmann::json;

json row_of(const json &rows, const std::string &name) {
  for (const json &r : rows)
    if (r["name"] == name) return r;
  ADD_FAILURE() << "there is no " << name;
  return {};
}

TEST(Coverage, SharesAreThoseOfTheRows) {
  const Said said = run_program("saltern", "coverage --json");
  ASSERT_EQ(said.code, 0) << said.all;
  const json all = json::parse(said.out);
  EXPECT_GE(all["names"].size(), 13u);
  for (const auto &[list, rows] : all["names"].items()) {
    double working = 0;
    for (const json &r : rows) working += r["state"] == "works";
    EXPECT_NEAR(all[list].get<double>(), working / static_cast<double>(rows.size()), 1e-3) << list;
  }
  EXPECT_GE(all["pytorch_nn"].get<double>(), 0.98);
}

TEST(Coverage, CellsFollowFromWhatWasTried) {
  const json rows = json::parse(run_program("saltern", "coverage --json").out)["names"];
  EXPECT_EQ(row_of(rows["keras_ops"], "average")["here"], "function keras.average");
  EXPECT_EQ(row_of(rows["keras_ops"], "average")["python"], "yes");
  EXPECT_EQ(row_of(rows["keras_ops"], "exp")["gpu"], "yes");
  EXPECT_EQ(row_of(rows["keras_ops"], "cumsum")["gpu"], "no");  // a scan, which has no pattern there
  EXPECT_EQ(row_of(rows["onnx_ops"], "Softmax")["gradient"], "derived");
  EXPECT_FALSE(row_of(rows["onnx_ops"], "NonZero").contains("gradient"));
  EXPECT_FALSE(row_of(rows["onnx_ops"], "Softmax").contains("gpu"));
}

TEST(Coverage, ARowSaysWhatTheTablesHave) {
  const json rows = json::parse(run_program("saltern", "coverage --json").out)["names"];
  const json relu = row_of(rows["pytorch_nn"], "ReLU");
  EXPECT_EQ(relu["algorithm"], "formula");
  EXPECT_EQ(relu["kernel"], "yes");
  EXPECT_EQ(relu["onnx_out"], "yes");
  EXPECT_EQ(row_of(rows["pytorch_nn"], "Softplus")["gradient"], "derived");
  EXPECT_EQ(row_of(rows["keras_layers"], "Dense")["here"], "layer Linear");
  EXPECT_EQ(row_of(rows["onnx_ops"], "NonZero")["algorithm"], "host");
  EXPECT_EQ(row_of(rows["onnx_ops"], "If")["algorithm"], "graphs");
  EXPECT_EQ(row_of(rows["onnx_ops"], "ai.onnx.ml.Scaler")["state"], "works");
  EXPECT_EQ(row_of(rows["pytorch_nn"], "ModuleList")["here"], "Python saltern.nn.ModuleList");
  const json base = row_of(rows["pytorch_nn"], "RNNBase");
  EXPECT_EQ(base["state"], "no arithmetic");
  EXPECT_TRUE(base.contains("note"));
}

TEST(Coverage, ThePageIsWhatTheProgramSays) {
  const Said said = run_program("saltern", "coverage --markdown");
  ASSERT_EQ(said.code, 0) << said.all;
  EXPECT_TRUE(contains(bytes_of_file(SALTERN_SOURCE_DIR "/docs/coverage.md"), said.out))
      << "docs/coverage.md ends with what `saltern coverage --markdown` prints";
}

TEST(Coverage, AListThatIsNotThereIsNamed) {
  const Said said = run_program("saltern", "coverage --list nothing");
  EXPECT_EQ(said.code, 2);
  EXPECT_TRUE(contains(said.all, "there is no list 'nothing'")) << said.all;
  EXPECT_EQ(run_program("saltern", "coverage --list losses").code, 0);
}

}  // namespace
}  // namespace saltern
