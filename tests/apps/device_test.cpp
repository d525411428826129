// What the program does with devices: `--device` of run, verify and bench, `targets --kernels` and its page, `compile --kernels`.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/graph/model_file.h"
#include "runtime/graph/trace.h"
#include "runtime/nn/all.h"
#include "runtime/onnx/export.h"
#include "runtime/tensor/npz.h"
#include "runtime/tensor/random.h"
#include "tests/apps/run_program.h"
#include "tests/apps/small_models.h"

namespace saltern {
namespace {

using nlohmann::json;

class Devices : public testing::Test {
 protected:
  Said run(const std::string &arguments) {
    return run_program("saltern", arguments, "SALTERN_CACHE=" + folder.file("cache"));
  }

  // A picture's classes, by a small net.
  void save_net() {
    Random random(5);
    nn::manual_seed(5);
    Sequential net(nn::Conv2d(1, 4, 3), nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Linear(4 * 3 * 3, 5),
                   nn::Softmax(-1));
    const Graph graph = trace(net, {2, 1, 8, 8});
    save_model(model, graph);
    write_npz(inputs, {{graph.inputs[0], random.normal_tensor({2, 1, 8, 8})}}, true);
  }

  Tensor output(const std::string &options) {
    const std::string file = folder.file("out.npz");
    const Said said = run("run " + model + " --inputs " + inputs + " --outputs " + file + " " + options);
    EXPECT_EQ(said.code, 0) << said.all;
    return said.code == 0 ? read_npz(file).begin()->second : Tensor();
  }

  const ScratchFolder folder;
  const std::string model = folder.file("net.safetensors"), inputs = folder.file("in.npz");
};

TEST_F(Devices, ANetGivesOnOpenClWhatItGivesOnTheCpu) {
  save_net();
  const Tensor want = output(""), got = output("--device opencl");
  ASSERT_EQ(got.shape(), want.shape());
  for (int64_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got.reals()[i], want.reals()[i], 1e-5) << i;
  const Said said = run("run " + model + " --inputs " + inputs + " --device opencl --json");
  ASSERT_EQ(said.code, 0) << said.all;
  const json device = json::parse(said.out)["device"];
  EXPECT_EQ(device["name"], "opencl");
  EXPECT_GE(device["kernels_there"], 5);
  EXPECT_EQ(device["kernels_on_cpu"], 0) << device;
  EXPECT_EQ(device["why_on_cpu"], json::object());
  EXPECT_TRUE(contains(run("run " + model + " --inputs " + inputs + " --device opencl").out, "kernels ran on opencl"));
}

TEST_F(Devices, AnImportedModelRunsThere) {
  const std::string onnx = folder.file("model.onnx"), in = folder.file("scores.npz"), out = folder.file("y.npz");
  save_onnx(onnx, scores_model());
  write_npz(in, {{"x", counting({2, 3}, 0.5)}, {"b", counting({4})}}, true);
  std::vector<std::vector<double>> scores;
  for (const std::string &device : {std::string("cpu"), std::string("opencl")}) {
    const Said said = run("run " + onnx + " --inputs " + in + " --outputs " + out + " --device " + device);
    ASSERT_EQ(said.code, 0) << said.all;
    scores.push_back(read_npz(out).at("scores").reals());
  }
  for (size_t i = 0; i < scores[0].size(); ++i) EXPECT_NEAR(scores[1][i], scores[0][i], 1e-5);
}

TEST_F(Devices, VerifyComparesTheLayersThereWithThoseHere) {
  save_net();
  const Said said = run("verify " + model + " --device opencl --no-compiled --layers --json");
  ASSERT_EQ(said.code, 0) << said.all;
  const json values = json::parse(said.out)["values"];
  ASSERT_GE(values.size(), 5u);
  for (const json &v : values) EXPECT_EQ(v["paths"], "library, opencl");
  // It can fail.
  EXPECT_EQ(run("verify " + model + " --device opencl --no-compiled --rtol 0 --atol 0").code, 1);
}

TEST_F(Devices, BenchMeasuresUntilTheResultIsHere) {
  save_net();
  const Said said = run("bench " + model + " --device opencl --seconds 0 --json");
  ASSERT_EQ(said.code, 0) << said.all;
  const json row = json::parse(said.out);
  EXPECT_EQ(row["device"], "opencl");
  EXPECT_GT(row["min_ms"], 0);
  EXPECT_FALSE(row.contains("share_of_peak"));  // which is the CPU's
  for (const std::string option : {"--compiled", "--layers"}) {
    const Said refused = run("bench " + model + " --device opencl " + option);
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(contains(refused.all, option + " is for the CPU")) << refused.all;
  }
}

TEST_F(Devices, WhatIsMissingOrCannotBeIsSaid) {
  save_net();
  const Said cuda = run("run " + model + " --inputs " + inputs + " --device cuda");
  EXPECT_EQ(cuda.code, 3);
  EXPECT_TRUE(
      contains(cuda.all, "there is no cuda device here (that needs an NVIDIA GPU and its driver's libcuda.so)"));
  const Said compiled = run("run " + model + " --inputs " + inputs + " --compiled --device opencl");
  EXPECT_EQ(compiled.code, 2);
  EXPECT_TRUE(contains(compiled.all, "--compiled"));
  EXPECT_EQ(run("run " + model + " --inputs " + inputs + " --device tpu").code, 2);
}

TEST_F(Devices, ThePageOfKernelsIsWhatTheProgramSays) {
  const Said said = run("targets --kernels");
  ASSERT_EQ(said.code, 0) << said.all;
  EXPECT_TRUE(contains(bytes_of_file(SALTERN_SOURCE_DIR "/docs/gpu-kernels.md"), said.out))
      << "docs/gpu-kernels.md ends with what `saltern targets --kernels` prints";
  const json rows = json::parse(run("targets --kernels --json").out);
  EXPECT_GE(rows.size(), 90u);
  const auto pool = std::find_if(rows.begin(), rows.end(), [](const json &r) { return r["name"] == "max_pool2d"; });
  ASSERT_NE(pool, rows.end());
  EXPECT_EQ((*pool)["classes"], json::array({"map", "window"}));
}

TEST_F(Devices, KernelsAreCompiledForOneTarget) {
  const std::string out = folder.file("out");
  const Said said = run("compile --kernels relu dense --target opencl --name some --json -o " + out);
  ASSERT_EQ(said.code, 0) << said.all;
  EXPECT_EQ(json::parse(said.out)["library"], out + "/libsome.a");
  EXPECT_TRUE(contains(bytes_of_file(out + "/some.h"), "int some_dense(halide_buffer_t *x, halide_buffer_t *w"));
  EXPECT_TRUE(contains(bytes_of_file(out + "/libsome.a"), "__kernel void"));
  for (const std::string &wrong : {"compile -o " + out, "compile --kernels nothing --target opencl -o " + out,
                                   "compile --kernels relu --target opencl --target cuda -o " + out,
                                   "compile model.onnx --kernels relu -o " + out}) {
    EXPECT_EQ(run(wrong).code, 2) << wrong;
  }
}

}  // namespace
}  // namespace saltern
