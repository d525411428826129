// `saltern gradients` compares gradients with finite differences: exit code 1 is for those that differ, and kinks are none.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/graph/model_file.h"
#include "runtime/tensor/npz.h"
#include "tests/apps/run_program.h"
#include "tests/apps/small_models.h"
#include "tests/errors.h"

namespace saltern {
namespace {

using nlohmann::json;

class Gradients : public testing::Test {
 protected:
  Said gradients(const std::string &arguments) { return run_program("saltern", "gradients --threads 1 " + arguments); }
  Said gradients(const Model &m, const std::string &arguments = "") {
    save_onnx(model, m);
    return gradients(model + " " + arguments);
  }

  const ScratchFolder folder;
  const std::string model = folder.file("model.onnx"), data = folder.file("data.npz");
};

Model unary(const std::string &operation, const Shape &shape, Type type = Type::f32) {
  Model m = identity_model(shape, type);
  m.graph.nodes[0].operation = operation;
  return m;
}

TEST_F(Gradients, OfInputsAndParametersAreGood) {
  write_npz(data, {{"x", counting({2, 3}, 0.37)}, {"b", counting({4})}});
  const Said said = gradients(scores_model(), "--inputs " + data);
  EXPECT_EQ(said.code, 0) << said.all;
  EXPECT_TRUE(contains(said.out, "good: 3 gradients"));
  const json line = json::parse(gradients(model + " --json --shape x=5,3").out);
  EXPECT_EQ(line["good"], true);
  ASSERT_EQ(line["values"].size(), 3u);
  for (const json &row : line["values"]) {
    EXPECT_NE(row["by_differences"].get<double>(), 0) << row;
    EXPECT_NEAR(row["by_gradient"].get<double>() / row["by_differences"].get<double>(), 1, 1e-3) << row;
  }
}

TEST_F(Gradients, OfASavedNetAreGood) {
  const std::string net = folder.file("net.safetensors");
  save_model(net, small_net());
  const Said said = gradients(net);
  EXPECT_EQ(said.code, 0) << said.all;
  EXPECT_TRUE(contains(said.out, "good: 3 gradients"));
}

// Where every element is at a kink, or beside a jump, points nearby decide.
TEST_F(Gradients, KinksAndJumpsAreNoFalseAlarms) {
  write_npz(data, {{"image", Tensor::zeros({5, 7})}});
  for (const char *operation : {"Abs", "Relu", "Floor", "Sign"}) {
    const Said said = gradients(unary(operation, {5, 7}), "--inputs " + data);
    EXPECT_EQ(said.code, 0) << operation << ": " << said.all;
  }
}

TEST_F(Gradients, WhatDiffersIsExitCodeOne) {
  // No f32 is as near as this to what f64 gives.
  EXPECT_EQ(gradients(unary("Exp", {5, 7}), "--tolerance nan").code, 2);
  const Said said = gradients(unary("Exp", {5, 7}), "--tolerance 1e-12");
  EXPECT_EQ(said.code, 1) << said.all;
  EXPECT_TRUE(contains(said.out, "bad"));
}

TEST_F(Gradients, WhatHasNoneIsNamed) {
  const Said integers = gradients(unary("Abs", {3}, Type::i64));
  EXPECT_EQ(integers.code, 3) << integers.all;
  EXPECT_TRUE(contains(integers.all, "no input and no parameter of real numbers"));
  const Said sized_by_data = gradients(unary("NonZero", {3}));
  EXPECT_EQ(sized_by_data.code, 3) << sized_by_data.all;
  EXPECT_TRUE(contains(sized_by_data.all, "(NonZero)"));
  EXPECT_EQ(gradients("no_such_file.onnx").code, 2);
}

}  // namespace
}  // namespace saltern
